import type { Health, HealthComponent } from "../observe/health.ts";

/** Health components that several threads report on. A component is unhealthy while any reporter has a fault. */
export class Components {
  readonly #health: Health;
  readonly #known = new Map<string, { component: HealthComponent; faults: Map<symbol, string> }>();

  constructor(health: Health) {
    this.#health = health;
  }

  /** @returns a function that takes the fault of a component, or undefined once it is over */
  createReporter(name: string): (fault: string | undefined) => void {
    let known = this.#known.get(name);
    if (known === undefined) {
      known = { component: this.#health.component(name), faults: new Map() };
      this.#known.set(name, known);
    }
    const { component, faults } = known;
    const reporter = Symbol(name);
    return (fault) => {
      if (fault === undefined) faults.delete(reporter);
      else faults.set(reporter, fault);
      const [first] = faults.values();
      if (first === undefined) component.heal();
      else component.fail(first);
    };
  }
}
