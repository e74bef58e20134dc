/**
 * A small seeded source of random numbers: sfc32 (C. Doty-Humphrey, PractRand, 2010), seeded through splitmix32
 * (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators", 2014). Not for secrets.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    const mix = splitmix32(seed);
    this.#a = mix();
    this.#b = mix();
    this.#c = mix();
    for (let round = 0; round < 12; round++) this.#bits();
  }

  /** Uniform in [0, 1). Bound, so that it can be handed on as a function. */
  readonly next = (): number => this.#bits() / 4_294_967_296;

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number in [min, max]. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** One of the names, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const names = Object.keys(weights) as K[];
    let draw = this.next() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      draw -= weights[name];
      if (draw < 0) return name;
    }
    return names[0] as K;
  }

  /** A source of its own, so that what one part of a run draws leaves the others' draws alone. */
  fork(): Random {
    return new Random(this.#bits());
  }

  #bits(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

function splitmix32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
}
