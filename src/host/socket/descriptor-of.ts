/** Node shows the number of a socket's descriptor only on its handle. */
export function descriptorOf(socket: object): number | undefined {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: number } | null };
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined;
}
