// The product's clock, followed by the X-Now header of every answer. In the sandbox it runs faster than the wall, so
// its pace is measured, not assumed. All times here are milliseconds.

interface Sample {
  wall: number;
  product: number;
}

const WINDOW = 12_000;
const ENOUGH = 400;
const JUMP = 5_000;

export class FollowedClock {
  private samples: Sample[] = [];
  private rate = 1;
  private readonly wall: () => number;

  constructor(wall: () => number = () => performance.now()) {
    this.wall = wall;
  }

  /** Take in one X-Now header. */
  heard(header: string | null): void {
    const product = header ? Date.parse(header) : NaN;
    if (!Number.isFinite(product)) return;
    const now: Sample = { wall: this.wall(), product };
    const last = this.samples.at(-1);
    if (last && Math.abs(this.now() - product) > JUMP * Math.max(1, this.rate)) this.samples = [last];
    this.samples = [...this.samples.filter((s) => now.wall - s.wall <= WINDOW), now];
    const first = this.samples[0]!;
    if (now.wall - first.wall >= ENOUGH) this.rate = Math.max(0, (now.product - first.product) / (now.wall - first.wall));
  }

  /** What the product's clock shows now; the browser's own until the first answer. */
  now(): number {
    const last = this.samples.at(-1);
    return last ? last.product + (this.wall() - last.wall) * this.rate : Date.now();
  }

  /** Product seconds per wall second. */
  get pace(): number {
    return this.rate;
  }
}

export const productClock = new FollowedClock();
