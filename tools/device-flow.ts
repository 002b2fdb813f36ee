import type { InjectOptions, Response as LightMyRequestResponse } from 'light-my-request'
import { DEVICE_CODE } from '../src/protocol/token/grant-types.ts'
import { EMAIL, locationOf, PASSWORD, PlainBrowser, postForm, requestToken } from './flow.ts'
import type { RegisteredClient, RequestTarget } from './flow.ts'

/** The steps of the device authorization grant (RFC 8628) as plain requests. */

/** The answer of the device authorization endpoint. RFC 8628 §3.2. */
export interface StartedDevice {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly expires_in: number
  readonly interval: number
}

/** Sends the requests through a proxy on this machine, which the server trusts, as those of another address. */
export function from(server: RequestTarget, address: string): RequestTarget {
  const headers = { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' }
  return {
    inject: (options: InjectOptions) => server.inject({ ...options, headers: { ...options.headers, ...headers } }),
  }
}

export function requestDevice(
  server: RequestTarget,
  client: RegisteredClient,
  form: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  const secret = client.client_secret === undefined ? {} : { client_secret: client.client_secret }
  return postForm(server, '/v2/oauth/device_authorization', { client_id: client.client_id, ...secret, ...form })
}

export async function startDevice(
  server: RequestTarget,
  client: RegisteredClient,
  form: Readonly<Record<string, string>> = {},
): Promise<StartedDevice> {
  const response = await requestDevice(server, client, form)
  if (response.statusCode !== 200) throw new Error(`No device was started: ${response.body}`)
  return response.json<StartedDevice>()
}

export function poll(
  server: RequestTarget,
  client: RegisteredClient,
  { device_code }: Pick<StartedDevice, 'device_code'>,
  form: Readonly<Record<string, string>> = {},
): Promise<LightMyRequestResponse> {
  return requestToken(server, client, { grant_type: DEVICE_CODE, device_code, ...form })
}

/** Types the code on the page, as the user reads it. */
export async function typeCode(
  browser: PlainBrowser,
  { user_code }: Pick<StartedDevice, 'user_code'>,
): Promise<LightMyRequestResponse> {
  return browser.submit(await browser.get('/device'), { code: user_code })
}

/** Types the code, and signs in if the browser has no session. Returns the consent page. */
export async function openDeviceConsent(
  browser: PlainBrowser,
  device: Pick<StartedDevice, 'user_code'>,
  email = EMAIL,
): Promise<LightMyRequestResponse> {
  const page = await browser.get(locationOf(await typeCode(browser, device)))
  if (!page.body.includes('type="password"')) return page
  return browser.get(locationOf(await browser.submit(page, { email, password: PASSWORD })))
}

/** Types the code in a new browser, signs in and allows it. Returns the last page. */
export async function connectDevice(
  server: RequestTarget,
  device: Pick<StartedDevice, 'user_code'>,
  browser: PlainBrowser = new PlainBrowser(server),
): Promise<LightMyRequestResponse> {
  const page = await browser.submit(await openDeviceConsent(browser, device), { decision: 'allow' })
  if (page.statusCode !== 200) throw new Error(`The device was not connected (${page.statusCode}): ${titleOf(page)}`)
  return page
}

function titleOf({ body }: LightMyRequestResponse): string {
  return /<title>([^<]*)/.exec(body)?.[1] ?? body
}
