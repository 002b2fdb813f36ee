import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { PlainBrowser } from './flow.ts'

/** Signs the user out in this browser. Returns the page after that. */
export async function signOut(browser: PlainBrowser): Promise<LightMyRequestResponse> {
  return browser.submit(await browser.get('/v2/oauth/sign-out'), {})
}
