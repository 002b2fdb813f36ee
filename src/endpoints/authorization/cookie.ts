import type { Context } from '../../ports/context.ts'
import type { Cookies } from '../../ports/message.ts'
import type { ParsedCredential } from '../../protocol/secrets.ts'

/**
 * Opens the cookie of this server among those of one name; undefined: the server issued none of them. Another program of a loopback host can
 * set cookies of this name for a longer path. Browsers send those first (RFC 6265 §5.4), and that of this server, whose path is `/`, last: so
 * neither a text of the other program nor a session that it got for another person counts (threats.md AUTH-28).
 */
export function openCookie(
  { secrets }: Pick<Context, 'secrets'>,
  cookies: Cookies,
  name: keyof Cookies,
): ParsedCredential | undefined {
  return cookies[name].flatMap((value) => secrets.verify(name, value) ?? []).at(-1)
}
