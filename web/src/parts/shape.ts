// Whether a text has the shape that OpenAPI gives for its field. A hint while somebody types; the service decides.

export interface Shape {
  pattern?: string;
  minLength?: number;
  maxLength?: number;
}

/** What is wrong with the shape of a text that is not empty; null when nothing is, or nothing is known. */
export function misfit(shape: Shape | undefined, text: string): string | null {
  if (!shape || text === "") return null;
  if (shape.minLength !== undefined && text.length < shape.minLength) return `At least ${shape.minLength} characters.`;
  if (shape.maxLength !== undefined && text.length > shape.maxLength) return `At most ${shape.maxLength} characters.`;
  if (shape.pattern !== undefined && !new RegExp(shape.pattern, "u").test(text))
    return "It does not have the shape described below.";
  return null;
}
