/** The files that `tollgate init` writes. */

const MANUAL = "https://github.com/tollway/tollway/blob/main/docs";

export function startingRules(domain: string): string {
  return `# The limits of the domain "${domain}". All fields: ${MANUAL}/rules.md
# Check this file: tollgate check DIR. Run its tests: tollgate test DIR.
domain: ${quoted(domain)}
descriptors:
  # Every client address may make 100 requests a minute ...
  - key: remote_address
    rate_limit:
      unit: minute
      requests_per_unit: 100

  # ... but our own network is not limited: a rule without \`rate_limit\` never limits.
  - key: remote_address
    value: "10.*"

  # An address may sign in five times in any minute.
  - key: path
    value: /login
    descriptors:
      - key: remote_address
        rate_limit:
          unit: minute
          requests_per_unit: 5
          algorithm: sliding_window

  # A new limit that only reports: it counts and appears in the statistics, and refuses nothing.
  - key: api_key
    shadow_mode: true
    rate_limits:
      - { unit: second, requests_per_unit: 20 }
      - { unit: day, requests_per_unit: 10000 }
`;
}

export function startingTests(domain: string): string {
  return `# Tests of ${domain}.yaml. All fields: ${MANUAL}/testing-limits.md
domain: ${quoted(domain)}
tests:
  - name: an address may make 100 requests a minute
    steps:
      - request: remote_address=192.0.2.1
        repeat: 100
        expect: { code: OK, rule: ${domain}.remote_address, remaining: 0, reset: 60s }
      - request: remote_address=192.0.2.1
        expect: OVER_LIMIT
      - request: remote_address=192.0.2.2
        expect: { code: OK, remaining: 99 }
      - advance: 1m
      - request: remote_address=192.0.2.1
        expect: { code: OK, remaining: 99 }

  - name: our own network is not limited
    steps:
      - request: remote_address=10.1.2.3
        repeat: 1000
        expect: { code: OK, rule: none }

  - name: an address may sign in five times in any minute
    start: 2026-01-01T00:00:50Z
    steps:
      - request: path=/login,remote_address=192.0.2.1
        repeat: 5
        expect: OK
      - advance: 15s # into the next minute of the clock
      - request: path=/login,remote_address=192.0.2.1
        expect: { code: OVER_LIMIT, rule: ${domain}.path_/login.remote_address }

  - name: the limits of API keys refuse nothing yet
    steps:
      - request: api_key=one
        repeat: 30
        expect: OK
`;
}

/** Numbers and words such as \`on\` would not be text without quotes. */
function quoted(domain: string): string {
  return /^[a-z][a-z0-9_-]*$/i.test(domain) && !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(domain)
    ? domain
    : JSON.stringify(domain);
}
