import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { findTask } from '../../src/admin/tasks.ts'
import type { Grantor } from '../resource-servers/grantor.ts'
import { ACCESS_RULES, GROUPS } from './filled-server.ts'
import { at, type State } from './states.ts'

/** What is set up: APIs, providers and the clients of the operator. */
export interface SetUp {
  readonly resource: string
  readonly provider: string
  readonly client: string
}

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'

/** Sets up an API, providers and a client, with names that are hostile and long. */
export async function setUp(
  grantor: Grantor,
  { organization, user }: { readonly organization: string; readonly user: string },
): Promise<SetUp> {
  const [resource, provider, client] = [`https://api.acme.test/${'long-path/'.repeat(12)}`, 'acme', 'board']
  const scopes = [
    { name: 'projects:read', sentence: 'Read your projects', granted_to: 'users' },
    { name: 'a'.repeat(100), sentence: HOSTILE.repeat(3), granted_to: 'approved-clients', step_up: { level: '2fa' } },
  ]
  await perform(grantor, 'api.create', { resource, name: HOSTILE, scopes })
  await perform(grantor, 'api.create', { resource: 'https://opaque.acme.test', tokens: { format: 'opaque' } })
  const idp = { template: 'oidc', issuer: 'http://127.0.0.1:9', client_id: HOSTILE, client_secret: 's3cr3t' }
  const domains = Array.from({ length: 20 }, (_, index) => `department-${index}.acme.example`)
  await perform(grantor, 'provider.create', {
    ...idp,
    provider_id: provider,
    name: HOSTILE,
    domains,
    sign_up: 'domains',
    link: 'verified-email',
    routing: 'required',
  })
  await perform(grantor, 'provider.create', { ...idp, provider_id: 'off', name: 'Off', email_trust: 'none' })
  await perform(grantor, 'provider.disable', { provider_id: 'off' })
  const group_words = [`${GROUPS.protected}=Admin`, `${'g'.repeat(64)}=${'w'.repeat(40)}`]
  await perform(grantor, 'api.update', { resource, groups: 'roles', group_words })
  await perform(grantor, 'client.create', {
    rules: { groups: 'groups', group_words },
    client_id: client,
    client_name: `Board ${HOSTILE}`,
    redirect_uris: [`https://board.acme.test/${'long-path/'.repeat(12)}`],
  })
  await setUpRules(grantor, { resource, client, organization, user })
  return { resource, provider, client }
}

/** Access rules of the server and of an organization: more than a page, one that names all that a rule can name, and hostile sentences. */
async function setUpRules(
  grantor: Grantor,
  { resource, client, organization, user }: Record<'resource' | 'client' | 'organization' | 'user', string>,
): Promise<void> {
  const long = 'g'.repeat(64)
  await perform(grantor, 'access-rule.create', {
    rule_id: ACCESS_RULES.whole,
    clients: [client, 'source:registration', 'document:*.acme.example'],
    except_clients: ['unverified'],
    apis: ['https://opaque.acme.test'],
    scopes: [`${resource}=projects:read`],
    sign_in: true,
    except_scopes: [`${resource}=${'a'.repeat(100)}`],
    groups: [GROUPS.protected, long],
    except_groups: [GROUPS.empty],
    organizations: ['any', organization],
    users: [user],
    require: 'phr',
    max_age: 600,
    sentence: HOSTILE.repeat(3),
  })
  await perform(grantor, 'access-rule.create', {
    rule_id: ACCESS_RULES.report,
    clients: ['source:registration'],
    state: 'report',
  })
  const off = { clients: ['unverified'], require: '2fa', state: 'off' }
  for (let index = 0; index < 51; index += 1)
    await perform(grantor, 'access-rule.create', { ...off, rule_id: `rule-${index}` })
  const own = { organization_id: organization, rule_id: ACCESS_RULES.own }
  await perform(grantor, 'organization-access-rule.create', {
    ...own,
    except_clients: [client],
    groups: [`${organization}/${GROUPS.own}`],
    users: [user],
    sentence: HOSTILE,
    state: 'report',
  })
}

/** The screens of what is set up, and of what goes wrong on the way. */
export function setUpStates({ resource, provider, client }: SetUp, console: string): readonly State[] {
  const api = `/apis/${encodeURIComponent(resource)}`
  const pages: readonly (readonly [name: string, path: string])[] = [
    ['50 rows of APIs', '/apis'],
    ['50 rows of providers', '/providers'],
    ['50 rows of access rules', '/access-rules'],
    ['no access rule matches', '/access-rules?text=zzz'],
    ['an access rule', `/access-rules/${ACCESS_RULES.whole}`],
    ['an access rule that only reports', `/access-rules/${ACCESS_RULES.report}`],
    ['no such access rule', '/access-rules/none'],
    ['an API', api],
    ['an API with opaque tokens', `/apis/${encodeURIComponent('https://opaque.acme.test')}`],
    ['an API, its scopes', `${api}/scopes`],
    ['no such API', '/apis/https%3A%2F%2Fnone.example'],
    ['a provider', `/providers/${provider}`],
    ['a provider that is disabled', '/providers/off'],
    ['no such provider', '/providers/none'],
    ['a client of the operator', `/clients/${client}`],
    ['the settings of a client of the operator', `/clients/${client}?tab=settings`],
    ['a provider to create, of a new id', '/providers?ask=provider.create&template=entra&provider_id=new'],
    ['to create a provider, of a taken id', `/providers?ask=provider.create&template=oidc&provider_id=${provider}`],
    ...['client.update', 'client.set-rules'].map((task): [string, string] => [
      `filled: ${task}`,
      `/clients/${client}?ask=${task}`,
    ]),
  ]
  return [
    ...pages.map(([name, path]) => at(console, name, path)),
    {
      name: 'wrong rows',
      async show(tab) {
        await tab.goto(`${console}/apis?ask=api.create`)
        await tab.locator('[name=resource]').fill('no uri')
        await tab.locator('[name="scopes.1.name"]').fill('two words')
        await tab.locator('details.more').click()
        await tab.locator('[name="tokens.lifetime"]').fill('-1')
        await tab.getByRole('button', { name: 'Declare an API' }).click()
        await tab.locator('.error').first().waitFor()
      },
    },
    {
      name: 'wrong lines',
      async show(tab) {
        await tab.goto(`${console}/clients?ask=client.create`)
        await tab.locator('[name=client_name]').fill('Board')
        await tab.locator('[name=redirect_uris]').fill('https://board.acme.test/cb\nno uri')
        await tab.getByRole('button', { name: 'Create a client' }).click()
        await tab.locator('.error').first().waitFor()
      },
    },
    {
      name: 'a connection that does not work',
      async show(tab) {
        await tab.goto(`${console}/providers/${provider}`)
        await tab.getByRole('button', { name: 'Test the connection' }).click()
        await tab.locator('.result').waitFor()
      },
    },
    {
      name: 'a provider is created, which does not work',
      async show(tab) {
        await tab.goto(`${console}/providers?ask=provider.create&template=oidc&provider_id=created`)
        for (const [field, text] of Object.entries({
          issuer: 'http://127.0.0.1:9',
          name: 'Acme Idp',
          client_id: 'grantor',
          client_secret: 's3cr3t',
        }))
          await tab.locator(`[name=${field}]`).fill(text)
        await tab.getByRole('button', { name: 'Connect a provider' }).click()
        await tab.locator('.result').waitFor()
      },
    },
    {
      name: 'a secret with its id',
      async show(tab) {
        await tab.goto(`${console}${api}?ask=api.create-credentials`)
        await tab.getByRole('button', { name: 'Create credentials' }).click()
        await tab.locator('.secret').waitFor()
      },
    },
  ]
}

async function perform({ context }: Grantor, name: string, input: Readonly<Record<string, unknown>>): Promise<void> {
  const task = findTask(name)
  if (task === undefined) throw new Error(`There is no task ${name}.`)
  await runTask(asAdministrator(context, COMMAND_LINE), task, input, () => undefined)
}
