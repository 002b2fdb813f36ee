import type { Browser, Page } from 'playwright-core'
import { createClient } from '../../src/admin/client/metadata.ts'
import type { GroupId } from '../../src/protocol/access/group.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { EMAIL, PASSWORD, type RegisteredClient } from '../../tools/flow.ts'
import type { Findings } from '../findings.ts'
import { openGrantor, type Grantor } from '../resource-servers/grantor.ts'

/** A group that lets in, and one that the user is in besides. */
export const GROUP = 'finance' as GroupId
export const OTHER = 'dev' as GroupId
export const SCOPE = 'openid profile email groups' as Scope

/** A server whose user is in one group, and gets into another one. */
export interface Stage {
  readonly grantor: Grantor
  /** The folder of the installed programs. */
  readonly folder: string
  readonly browser: Browser
  readonly report: Findings['report']
  readonly setMember: (isMember: boolean) => Promise<void>
  /** A client of the operator that reads all groups. */
  readonly makeClient: (
    redirectUri: string,
    consent?: 'asked' | 'implied',
  ) => Promise<RegisteredClient & { readonly client_secret: string }>
}

export async function openStage(
  { folder, browser, report }: Pick<Stage, 'folder' | 'browser' | 'report'>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Stage> {
  const grantor = await openGrantor(settings)
  const { store } = grantor.context
  const user = await store.findUserByEmail(EMAIL)
  if (user?.email === undefined) throw new Error('The user is missing.')
  const now = Date.now() as typeof user.createdAt
  await store.setEmail({ id: user.id, email: user.email, emailVerifiedAt: now, now, mails: [] })
  const member = { userId: user.id, source: 'operator', createdAt: now, expiresAt: undefined } as const
  for (const id of [GROUP, OTHER])
    await store.createGroup({ id, organizationId: undefined, name: id, isProtected: false, createdAt: now })
  await store.addGroupMember({ ...member, groupId: OTHER })
  return {
    folder,
    browser,
    report,
    grantor,
    async setMember(isMember) {
      const row = { ...member, groupId: GROUP }
      const outcome = isMember ? await store.addGroupMember(row) : await store.removeGroupMember(row)
      if (outcome !== (isMember ? 'added' : 'removed')) throw new Error(`The member is ${outcome}.`)
    },
    async makeClient(redirectUri, consent = 'implied') {
      const { client, secret = '' } = await createClient(grantor.context, {
        metadata: { client_name: 'Consumer', redirect_uris: [redirectUri], scope: SCOPE },
        rules: { consent, claims: 'id-token', groups: 'groups' },
        approvedScope: SCOPE,
      })
      return { client_id: client.id, client_secret: secret }
    },
  }
}

/** Opens an address in a new profile, and signs in at the server where it leads there. Returns the page at which it ends. */
export async function visit({ browser, grantor }: Stage, address: string): Promise<Page> {
  const tab = await (await browser.newContext()).newPage()
  tab.setDefaultTimeout(60_000)
  await tab.goto(address)
  if (tab.url().startsWith(grantor.origin)) {
    await tab.getByLabel('Email', { exact: true }).fill(EMAIL)
    await tab.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click()
    await tab.waitForURL((url) => url.origin !== grantor.origin)
  }
  await tab.waitForLoadState()
  return tab
}

/** The status of a request with the cookies of the page. */
export async function statusOf(tab: Page, address: string): Promise<number> {
  return (await tab.request.get(address, { maxRedirects: 0 })).status()
}
