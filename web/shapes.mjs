// Takes the shapes of a form's text fields out of openapi.json, as hints while somebody types. The service still decides.
import { readFileSync, writeFileSync } from "node:fs";

const FORMS = ["ClusterCreate"];
const KEPT = ["pattern", "minLength", "maxLength"];
const { schemas } = JSON.parse(readFileSync(process.argv[2] ?? "openapi.json", "utf8")).components;

const shape = (property) =>
  Object.fromEntries(
    [property, ...(property.anyOf ?? [])].flatMap((p) => KEPT.filter((k) => k in p).map((k) => [k, p[k]])),
  );

const shapes = Object.fromEntries(
  FORMS.map((form) => [
    form,
    Object.fromEntries(
      Object.entries(schemas[form].properties)
        .map(([name, property]) => [name, shape(property)])
        .filter(([, found]) => Object.keys(found).length > 0),
    ),
  ]),
);
writeFileSync(new URL("src/api/shapes.json", import.meta.url), JSON.stringify(shapes, null, 2) + "\n");
