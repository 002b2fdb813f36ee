import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { InstallationRecord } from '../../src/ports/records/organization.ts'
import type { ClientId, OrganizationId, UserId } from '../../src/protocol/ids.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { createAccount } from './accounts.ts'
import { EMAIL, locationOf, PASSWORD, type PlainBrowser, type RegisteredClient } from '../../tools/flow.ts'
import { aMembership, anInstallation, anOrganization } from './records.ts'
import type { TestServer } from './server.ts'

/** Organizations, members and installations as an operator sets them up, for tests that need them as their preparation. */

export async function createOrganization({ context }: TestServer, name: string): Promise<OrganizationId> {
  const organization = anOrganization({ name }, context.clock())
  await context.store.createOrganization(organization)
  return organization.id
}

export async function addMember(
  { context }: TestServer,
  userId: UserId,
  organizationId: OrganizationId,
): Promise<void> {
  const now = context.clock()
  await context.store.addMember({
    ...aMembership({ userId, organizationId, createdAt: now, notBefore: now }),
    mails: [],
  })
}

export async function install(
  { context }: TestServer,
  client: RegisteredClient,
  organizationId: OrganizationId,
  allowed: Partial<Pick<InstallationRecord, 'scope' | 'actsForMembers'>> = {},
): Promise<void> {
  const now = context.clock()
  const about = { clientId: clientId(client), organizationId, scope: 'read' as Scope }
  await context.store.install(anInstallation({ ...about, ...allowed, createdAt: now, notBefore: now }))
}

export function clientId(client: RegisteredClient): ClientId {
  return client.client_id as ClientId
}

/** Creates a user with the password that all tests use. */
export async function createPerson(server: TestServer, email = EMAIL): Promise<UserId> {
  return (await createAccount(server, { email, password: PASSWORD, name: undefined })).id
}

/** Requests the page of an authorization and signs in if necessary. Returns the consent page, or the response that comes instead. */
export async function openConsent(browser: PlainBrowser, url: string, email = EMAIL): Promise<LightMyRequestResponse> {
  let page = await browser.get(url)
  for (let step = 0; step < 4; step += 1) {
    const { location } = page.headers
    if (location !== undefined && !location.includes('/v2/oauth/')) return page
    if (location !== undefined) page = await browser.get(location)
    else if (page.body.includes('type="password"')) page = await browser.submit(page, { email, password: PASSWORD })
    else return page
  }
  return page
}

/** The code in a redirect to the client, or undefined if it has none. */
export function codeIn(answer: LightMyRequestResponse): string | undefined {
  if (answer.headers.location === undefined) return undefined
  return new URL(locationOf(answer)).searchParams.get('code') ?? undefined
}

/** The values and texts of the page's organization picker, or undefined if it has none. */
export function optionsIn(
  page: LightMyRequestResponse,
): readonly { readonly value: string; readonly text: string; readonly isSelected: boolean }[] | undefined {
  const select = /<select[^>]*name="organization"[^>]*>([^]*?)<\/select>/.exec(page.body)?.[1]
  return select === undefined
    ? undefined
    : [...select.matchAll(/<option value="([^"]*)"([^>]*)>([^<]*)<\/option>/g)].map(
        ([, value = '', attributes = '', text = '']) => ({
          value,
          text: text.trim(),
          isSelected: attributes.includes(' selected'),
        }),
      )
}
