/** Protects texts with keys that are derived from secrets. */
export interface Sealing {
  /** Seals a text for a purpose. It opens for the same purpose only. */
  seal(text: string, purpose: string): Promise<string>;
  /** Undefined for anything that was not sealed with one of the secrets for this purpose. */
  open(sealed: string, purpose: string): Promise<string | undefined>;
}

/** One secret of at least 32 characters, or several: the first one seals, all of them open. */
export type SecretTexts = string | readonly string[];

/** A function is called at the first use, for a secret that is known only when the application runs. */
export type Secrets = SecretTexts | (() => SecretTexts);

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Everybody can read the text, and only holders of a secret can make it: HMAC-SHA-256. */
export function signing(secrets: Secrets): Sealing {
  const algorithm = { name: "HMAC", hash: "SHA-256", length: 256 };
  const keys = keysOf(secrets, "signature", algorithm, ["sign", "verify"]);
  const signedPart = (body: string, purpose: string) => encoder.encode(`${purpose}\0${body}`);
  return {
    async seal(text, purpose) {
      const body = toText(encoder.encode(text));
      const [first] = await keys();
      const signature = await crypto.subtle.sign("HMAC", first!, signedPart(body, purpose));
      return `${body}.${toText(new Uint8Array(signature))}`;
    },
    async open(sealed, purpose) {
      const [body = "", signature, ...rest] = sealed.split(".");
      const bytes = rest.length > 0 ? undefined : toBytes(signature ?? "");
      const text = toBytes(body);
      if (bytes?.length !== 32 || text === undefined) return undefined;
      for (const key of await keys())
        if (await crypto.subtle.verify("HMAC", key, bytes, signedPart(body, purpose))) return decoded(text);
      return undefined;
    },
  };
}

/** Only holders of a secret can read or make the text: AES-256-GCM. */
export function encryption(secrets: Secrets): Sealing {
  const keys = keysOf(secrets, "encryption", { name: "AES-GCM", length: 256 }, ["encrypt", "decrypt"]);
  const rules = (iv: Uint8Array<ArrayBuffer>, purpose: string) => ({
    name: "AES-GCM",
    iv,
    additionalData: encoder.encode(purpose),
  });
  return {
    async seal(text, purpose) {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const [first] = await keys();
      const secret = new Uint8Array(
        await crypto.subtle.encrypt(rules(iv, purpose), first!, encoder.encode(text)),
      );
      const whole = new Uint8Array(iv.length + secret.length);
      whole.set(iv);
      whole.set(secret, iv.length);
      return toText(whole);
    },
    async open(sealed, purpose) {
      const bytes = toBytes(sealed);
      if (bytes === undefined || bytes.length < 28) return undefined;
      for (const key of await keys()) {
        try {
          const text = await crypto.subtle.decrypt(rules(bytes.slice(0, 12), purpose), key, bytes.slice(12));
          return decoded(new Uint8Array(text));
        } catch {
          // Another secret, or no text of ours.
        }
      }
      return undefined;
    },
  };
}

/** Derives the keys on first use. A different label gives a different key, so that one secret can serve for both. */
function keysOf(
  secrets: Secrets,
  label: string,
  algorithm: Parameters<typeof crypto.subtle.deriveKey>[2],
  usages: Parameters<typeof crypto.subtle.deriveKey>[4],
): () => Promise<readonly CryptoKey[]> {
  const given = typeof secrets === "function" ? undefined : listOf(secrets);
  let keys: readonly CryptoKey[] | undefined;
  const info = encoder.encode(`@tollway/waymark ${label}`);
  const derive = async (secret: string) => {
    const base = await crypto.subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveKey"]);
    const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info };
    return crypto.subtle.deriveKey(hkdf, base, algorithm, false, usages);
  };
  // In a worker, a promise of a request that has ended never settles. Requests therefore share keys and no promise.
  return async () => {
    keys ??= await Promise.all((given ?? listOf((secrets as () => SecretTexts)())).map(derive));
    return keys;
  };
}

function listOf(secrets: SecretTexts): readonly string[] {
  const list = Array.isArray(secrets) ? [...secrets] : [secrets];
  if (list.length === 0) throw new TypeError("the list `secret` is empty: it must have at least one secret");
  for (const [index, secret] of list.entries())
    if (typeof secret !== "string" || secret.length < 32) {
      const place = Array.isArray(secrets) ? `secret[${index}]` : "secret";
      throw new TypeError(
        `\`${place}\` must be a random text of at least 32 characters: \`openssl rand -base64 32\` prints one`,
      );
    }
  return list;
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Base64url without padding. */
export function toText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Undefined for text that is not the base64url of its bytes. There is one text for the same bytes, not several. */
function toBytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) =>
      each.charCodeAt(0),
    );
    return toText(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
