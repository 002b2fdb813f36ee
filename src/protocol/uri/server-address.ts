/** Returns the full address of a path of this server. It never depends on the request's Host header (threats.md UI-12). */
export function addressOf(issuer: string, path: string): string {
  return (issuer.endsWith('/') ? issuer.slice(0, -1) : issuer) + path
}
