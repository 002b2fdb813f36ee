import type { Response as LightMyRequestResponse } from 'light-my-request'
import { createProvider, type ProviderInput } from '../../../src/admin/provider/provider.ts'
import type { ProviderRecord } from '../../../src/ports/records/provider.ts'
import type { ProviderId } from '../../../src/protocol/sign-in/authentication.ts'
import type { ProviderSettings, ProviderTemplateName } from '../../../src/protocol/sign-in/provider.ts'
import type { PlainBrowser } from '../../../tools/flow.ts'
import { leadsTo, pressProvider } from '../../../tools/provider-page.ts'
import { CLIENT_ID, CLIENT_SECRET, type Claims, type Deviation, type ProviderHost } from './provider-host.ts'
import type { TestServer } from '../server.ts'

type Page = LightMyRequestResponse

export const ADA_CLAIMS: Claims = { sub: 'ada-at-idp', email: 'ada@acme.test', email_verified: true, name: 'Ada' }

/** The claims of a person who authenticates now. */
export function freshClaims({ clock }: Pick<TestServer, 'clock'>): Claims {
  return { ...ADA_CLAIMS, auth_time: Math.floor(clock.now() / 1000) }
}

/** Creates a provider of the server, by default an OpenID provider with the id `idp`. */
export function addProvider(
  { context }: Pick<TestServer, 'context'>,
  { issuer }: Pick<ProviderHost, 'issuer'>,
  settings: Partial<ProviderSettings> = {},
  input: { readonly id?: string; readonly template?: ProviderTemplateName; readonly name?: string } = {},
): Promise<ProviderRecord> {
  const { id = 'idp', template = 'oidc', name = 'Acme ID' } = input
  const whole: ProviderInput = {
    id: id as ProviderId,
    template,
    name,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    // Tests press its button. What a provider shows by default has a matrix: listing-matrix.test.ts.
    settings: { issuer, listing: 'shown', ...settings },
  }
  return createProvider(context, whole)
}

/** Signs a person in at a provider, from a sign-in page. Returns the answer to the callback. */
export async function signInAt(
  { browser, page, host }: { readonly browser: PlainBrowser; readonly page: Page; readonly host: ProviderHost },
  claims: Claims = ADA_CLAIMS,
  deviation: Deviation = {},
  provider = 'idp',
): Promise<Page> {
  const location = leadsTo(await pressProvider(browser, page, provider))
  return browser.get(host.approve(location, claims, deviation))
}
