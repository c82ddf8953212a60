/** The part of Cloudflare's module that is used here. */
declare module "cloudflare:workers" {
  export const env: Readonly<Record<string, string | undefined>>;
}
