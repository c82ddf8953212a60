/** Whether a class serves the OpenAPI document or its page. The option `openapi` adds these classes. */
export function isOpenApiPage({ name }: { readonly name: string }): boolean {
  return name.startsWith("openapi.");
}
