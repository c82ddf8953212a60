import type { Health, HealthComponent } from "../observe/health.ts";

/** Health components that several threads speak of: one is ill while any of them says so. */
export class Components {
  readonly #health: Health;
  readonly #known = new Map<string, { component: HealthComponent; faults: Map<symbol, string> }>();

  constructor(health: Health) {
    this.#health = health;
  }

  /** A voice of its own for a component; it is told of a fault, and of its end by undefined. */
  voice(name: string): (fault: string | undefined) => void {
    let known = this.#known.get(name);
    if (known === undefined) {
      known = { component: this.#health.component(name), faults: new Map() };
      this.#known.set(name, known);
    }
    const { component, faults } = known;
    const speaker = Symbol(name);
    return (fault) => {
      if (fault === undefined) faults.delete(speaker);
      else faults.set(speaker, fault);
      const [first] = faults.values();
      if (first === undefined) component.heal();
      else component.fail(first);
    };
  }
}
