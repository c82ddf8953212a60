export async function overRedis(_kinds: unknown): Promise<void> {}
