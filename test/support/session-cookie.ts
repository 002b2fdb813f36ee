import type { PlainBrowser } from '../../tools/flow.ts'

const PREFIX = 'grantor-session-'

/** The name of the session cookie, for the issuer http://localhost:3000. */
export const SESSION_COOKIE = `${PREFIX}3000`

/** Whether a browser has a session cookie. The session itself may have ended. */
export function hasSession({ cookies }: Pick<PlainBrowser, 'cookies'>): boolean {
  return [...cookies.keys()].some((name) => name.startsWith(PREFIX))
}
