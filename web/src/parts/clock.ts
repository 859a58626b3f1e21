// The product's clock, followed by the X-Now header of every answer. In the sandbox it runs faster than the wall and
// can be moved, so its pace is measured, not assumed. All times here are milliseconds.

interface Sample {
  wall: number;
  product: number;
}

const WINDOW = 15_000;
const ENOUGH = 400;
const TOLERANCE = 0.15;

export class FollowedClock {
  private samples: Sample[] = [];
  private rate = 1;
  private readonly wall: () => number;

  constructor(wall: () => number = () => performance.now()) {
    this.wall = wall;
  }

  /** Take in one X-Now header. A reading that does not fit the pace so far begins a new measurement. */
  heard(header: string | null): void {
    const product = header ? Date.parse(header) : NaN;
    if (!Number.isFinite(product)) return;
    const now: Sample = { wall: this.wall(), product };
    const last = this.samples.at(-1);
    if (!last) {
      this.samples = [now];
      return;
    }
    if (now.wall - last.wall < ENOUGH) {
      if (this.samples.length === 1 && Math.abs(this.now() - product) > 1000 * Math.max(1, this.rate))
        this.samples = [now];
      return;
    }
    const pace = (sample: Sample): number => Math.max(0, (now.product - sample.product) / (now.wall - sample.wall));
    const fits = Math.abs(pace(last) - this.rate) <= TOLERANCE * Math.max(1, this.rate);
    const measuring = this.samples.length === 1;
    if (!fits && !measuring) {
      this.samples = [now];
      return;
    }
    this.samples = [...this.samples.filter((s) => now.wall - s.wall <= WINDOW || s === last), now];
    this.rate = pace(this.samples[0]!);
  }

  /** Forget the pace: somebody moved the clock. */
  restart(): void {
    this.samples = [];
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
