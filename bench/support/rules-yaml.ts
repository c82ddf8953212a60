/** Rules of four levels, as large configurations have them. One tenth of the rules are wildcards. */
export const LEVELS = ["tenant", "service", "method", "user"] as const;

/** The values of a rule's levels that a request with this number has. */
export function levelsOf(index: number): string[] {
  return [`tenant-${index}`, `service-${index % 7}`, `method-${index % 5}`, `user-${index}`];
}

/** A configuration of `size` rules. */
export function rulesYaml(size: number): string {
  const rules = Array.from({ length: size }, (_, index) => ruleText(levelsOf(index), index));
  return `domain: bench\ndescriptors:\n${rules.join("")}`;
}

function ruleText(values: readonly string[], index: number): string {
  const [tenant, service, method, user] = index % 10 === 9 ? [...values.slice(0, 3), "user-*"] : values;
  return `  - key: tenant
    value: ${tenant}
    descriptors:
      - key: service
        value: ${service}
        descriptors:
          - key: method
            value: ${method}
            descriptors:
              - { key: user, value: ${user}, rate_limit: { unit: hour, requests_per_unit: 1000 } }
`;
}
