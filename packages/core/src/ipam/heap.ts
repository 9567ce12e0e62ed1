/** A binary heap: the smallest element by `compare` comes out first. */
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.compare = compare;
  }

  get size(): number {
    return this.items.length;
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    const { items } = this;
    let child = items.push(item) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.swapUnlessOrdered(parent, child)) return;
      child = parent;
    }
  }

  pop(): T | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return top;
    items[0] = last;
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const child = this.smaller(left, left + 1);
      if (child === null || !this.swapUnlessOrdered(parent, child)) return top;
      parent = child;
    }
  }

  private smaller(left: number, right: number): number | null {
    const a = this.items[left];
    const b = this.items[right];
    if (a === undefined) return null;
    return b === undefined || this.compare(a, b) <= 0 ? left : right;
  }

  private swapUnlessOrdered(parent: number, child: number): boolean {
    const above = this.items[parent];
    const below = this.items[child];
    if (above === undefined || below === undefined || this.compare(above, below) <= 0) return false;
    this.items[parent] = below;
    this.items[child] = above;
    return true;
  }
}
