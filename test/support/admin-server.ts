import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { TestContext } from 'node:test'
import { requireTask } from '../../src/admin/tasks.ts'
import { createAdminCredential } from '../../src/admin/admin.ts'
import { createApi } from '../../src/admin/api/api.ts'
import { pathParameters, placeOf, type Task } from '../../src/admin/task.ts'
import { parseClientId, type ClientId, type OrganizationId, type UserId } from '../../src/protocol/ids.ts'
import type { AdminCredentialRecord } from '../../src/ports/records/admin.ts'
import type { Scope } from '../../src/protocol/token/scope.ts'
import { createAccount, createAda } from './accounts.ts'
import {
  authorizeUrl,
  locationOf,
  obtainTokens,
  PASSWORD,
  PlainBrowser,
  redeem,
  registerClient,
  type RegisteredClient,
  type Tokens,
} from '../../tools/flow.ts'
import { openTestServer, type TestServer } from './server.ts'
import { anAccessRule } from './store/access-rules.ts'
import { aGroup, aMembership, anInstallation, anOrganization } from './records.ts'
import type { GroupId } from '../../src/protocol/access/group.ts'
import { anApiDeclaration } from './records.ts'
import { type Members } from './tasks.ts'

/** A server with an administration, and what its operators may meet there. */
export interface AdminServer {
  readonly server: TestServer
  /** Credentials of an administrator. */
  readonly issue: (
    access: AdminCredentialRecord['access'],
    organizationId?: OrganizationId,
    days?: number,
  ) => Promise<IssuedToken>
  /** Does a task over HTTP. */
  readonly perform: (task: Task, input: Members, token: string | undefined) => Promise<LightMyRequestResponse>
  readonly performByName: (name: string, input: Members, token: string) => Promise<LightMyRequestResponse>
  readonly makeClient: (metadata?: object) => Promise<RegisteredClient>
  readonly makeTokens: () => Promise<Tokens>
  readonly makeUser: () => Promise<TestUser>
  readonly makeOrganization: () => Promise<OrganizationId>
  /** An organization with a member, an installation, and a grant that the member gave. */
  readonly makePeopledOrganization: () => Promise<PeopledOrganization>
  readonly makeApi: () => Promise<string>
  /** That no user has yet. */
  readonly anEmail: () => string
  readonly aResource: () => string
}

export interface IssuedToken {
  readonly id: string
  readonly token: string
}

export interface TestUser {
  readonly id: UserId
  readonly email: string
}

export interface PeopledOrganization {
  readonly organization_id: OrganizationId
  readonly user_id: UserId
  readonly client_id: ClientId
  readonly grant_id: string
  /** It has no members. */
  readonly group_id: GroupId
}

/** Attempts are wide open; only what a test is about refuses. */
export async function openAdminServer(
  test: Pick<TestContext, 'after'>,
  env: Readonly<Record<string, string>> = {},
): Promise<AdminServer> {
  const server = await openTestServer(test, { env: { GRANTOR_CLIENT_FAILURE_RATE: '1000000', ...env } })
  await createAda(server)
  return adminServerOf(server)
}

/** The same over a server that is there already. */
export function adminServerOf(server: TestServer): AdminServer {
  const { context } = server
  const { store, clock } = context
  let count = 0
  const perform: AdminServer['perform'] = (task, input, token) =>
    server.injectAdmin({ ...requestOf(task, input), ...bearer(token) })

  async function makeOrganization(): Promise<OrganizationId> {
    const organization = anOrganization({ name: 'Acme' }, clock())
    await store.createOrganization(organization)
    return organization.id
  }

  const anEmail = (): string => `person-${(count += 1)}@acme.test`
  const aResource = (): string => `https://api-${(count += 1)}.example`

  async function makeUser(): Promise<TestUser> {
    const email = anEmail()
    const { id } = await createAccount(server, { email, password: PASSWORD, name: 'A Person' })
    return { id, email }
  }

  async function makeClient(metadata: object = {}): Promise<RegisteredClient> {
    count += 1
    return registerClient(server, { client_name: `Client ${count}`, ...metadata })
  }

  return {
    server,
    perform,
    performByName: (name, input, token) => perform(requireTask(name), input, token),
    makeClient,
    makeUser,
    anEmail,
    aResource,
    makeOrganization,
    async issue(access, organizationId, days = 1) {
      const made = await createAdminCredential(context, { name: 'Somebody', access, organizationId, days })
      return { id: made.credential.id, token: made.token }
    },
    makeTokens: async () => obtainTokens(server, await makeClient()),
    async makePeopledOrganization() {
      const organizationId = await makeOrganization()
      const client = await makeClient()
      const clientId = parseClientId(client.client_id)
      if (clientId === undefined) throw new Error('There is no client.')
      const user = await makeUser()
      const now = clock()
      const since = { organizationId, createdAt: now, notBefore: now }
      await store.addMember({ ...aMembership({ ...since, userId: user.id }), mails: [] })
      await store.install(anInstallation({ ...since, clientId, scope: 'read' as Scope, actsForMembers: true }))
      await obtainTokensAs(server, user.email, client, organizationId)
      const [grant] = await store.listGrants({ before: undefined, limit: 1, userId: user.id })
      if (grant === undefined) throw new Error('There is no grant.')
      const group = aGroup({ organizationId, createdAt: now })
      await store.createGroup(group)
      const rules = [anAccessRule({ state: 'off' })]
      await store.setOrganizationRules({ id: organizationId, rules, previous: [] })
      return {
        organization_id: organizationId,
        user_id: user.id,
        client_id: clientId,
        grant_id: grant.id,
        group_id: group.id,
      }
    },
    async makeApi() {
      const resource = aResource()
      await createApi(context, anApiDeclaration(resource))
      return resource
    },
  }
}

/** A whole code flow of another user than Ada, for an organization. */
async function obtainTokensAs(
  server: TestServer,
  email: string,
  client: RegisteredClient,
  organizationId: OrganizationId,
): Promise<void> {
  const browser = new PlainBrowser(server)
  const start = await browser.get(authorizeUrl(client, { org_id: organizationId }))
  const signIn = await browser.get(locationOf(start))
  const signedIn = await browser.submit(signIn, { email, password: PASSWORD })
  const consent = await browser.get(locationOf(signedIn))
  const allowed = new URL(locationOf(await browser.submit(consent, { decision: 'allow' })))
  const answer = await redeem(server, client, allowed.searchParams.get('code') ?? '')
  if (answer.statusCode !== 200) throw new Error(`No tokens: ${answer.body}`)
}

/** How a task and its input look as a request. */
export function requestOf(task: Task, input: Members): { method: Task['method']; url: string; payload?: object } {
  const members = Object.entries(input)
  const [query, body] = (['query', 'body'] as const).map((part) =>
    members.filter(([name]) => placeOf(task, name) === part),
  )
  const path = pathParameters(task).reduce(
    (filled, name) => filled.replace(`{${name}}`, encodeURIComponent(String(input[name]))),
    task.path,
  )
  const texts = (query ?? []).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  )
  const url = texts.length === 0 ? path : `${path}?${new URLSearchParams(texts).toString()}`
  const hasBody = task.method !== 'GET' && task.method !== 'DELETE'
  return { method: task.method, url, ...(hasBody ? { payload: Object.fromEntries(body ?? []) } : {}) }
}

export function bearer(token: string | undefined): { headers: Record<string, string> } {
  return { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }
}
