import { randomBytes } from 'node:crypto'
import type { Page as Tab } from 'playwright-core'
import { asksFirst, chosenRows } from '../../src/console/engine/form.ts'
import { SCREENS } from '../../src/console/screens.ts'
import { after } from '../../src/base/brand.ts'
import { mintClientId, mintOrganizationId, mintUserId } from '../../src/protocol/ids.ts'
import { fillFigures } from '../../tools/figures.ts'
import { ACCESS_RULES, fill, GROUPS, HOSTILE } from './filled-server.ts'
import { setUp, setUpStates } from './set-up-states.ts'
import { userStates } from './user-states.ts'
import type { Grantor } from '../resource-servers/grantor.ts'

/** A page of the console in one of its states. */
export interface State {
  readonly name: string
  /** Leads the tab to the page. */
  readonly show: (tab: Tab) => Promise<unknown>
}

/** From this number of rows on, a person types the number. */
const MANY = 12

const LISTS = [
  '',
  '/clients',
  '/users',
  '/groups',
  '/grants',
  '/audit',
  '/apis',
  '/providers',
  '/organizations',
  '/found?text=acme',
  '/domains',
  '/initial-tokens',
  '/roles',
  '/credentials',
  '/keys',
  '/server',
]

/** The lists of a server that has just started, and those that have one row. */
export function firstStates(console: string): readonly State[] {
  return [
    ...LISTS.map((path) => at(console, `first ${path}`, path)),
    at(console, 'one row of users', '/users?text=ada@'),
  ]
}

/** The charts of the Overview: of one row, with a gap, with the numbers of all, and of longer periods. Each adds the figures that it shows. */
export function chartStates({ context: { store, clock } }: Grantor, console: string): readonly State[] {
  const filled = async (tab: Tab): Promise<void> => {
    await fillFigures(store, clock(), { span: '5m', rows: 576, isGap: (row) => row > 100 && row < 140 })
    await fillFigures(store, clock(), { span: '1h', rows: 8 * 24, isGap: (row) => row > 60 && row < 100 })
    await fillFigures(store, clock(), { span: '1d', rows: 90, isGap: (row) => row > 20 && row < 30 })
    await tab.goto(console)
  }
  return [
    {
      name: 'one row of figures',
      async show(tab) {
        await fillFigures(store, clock(), { span: '5m', rows: 1 })
        await tab.goto(console)
      },
    },
    { name: 'figures with a gap', show: filled },
    {
      name: 'the numbers of all figures',
      show: (tab) => tab.evaluate(`for (const one of document.querySelectorAll('figure details')) one.open = true`),
    },
    at(console, 'figures of a week', '?period=7d'),
    at(console, 'figures of a quarter', '?period=90d'),
    at(console, 'all figures', '/figures'),
    at(console, 'all figures of a week', '/figures?period=7d'),
    at(console, 'a period that is wrong', '?period=1y'),
  ]
}

/** Fills the server, and returns the states of its screens. */
export async function fillStates(grantor: Grantor, console: string): Promise<readonly State[]> {
  const { context } = grantor
  const { userIds, clientIds, grantId, hostileId, token, ...organizations } = await fill(grantor)
  const { organizationId, emptyId, hostileOrganizationId } = organizations
  const [user = '', other = '', hostileUser = ''] = userIds
  const ready = await setUp(grantor, { organization: organizationId, user })
  const [client = ''] = clientIds
  const now = context.clock()
  const unknown = {
    user: mintUserId(after(now, -1000), randomBytes),
    client: mintClientId(after(now, -1000), randomBytes),
    organization: mintOrganizationId(after(now, -1000), randomBytes),
  }
  const pages: readonly (readonly [name: string, path: string])[] = [
    ...LISTS.slice(0, 6).map((path) => [`50 rows ${path}`, path] as const),
    ['filtered', '/clients?trust_level=unverified&source=registration&used=false'],
    ['no client matches', '/clients?text=zzz&source=document'],
    ['no user matches', '/users?text=zzz'],
    ['no grant matches', `/grants?user_id=${unknown.user}`],
    ['no event matches', '/audit?event=code.replayed&since=2020-01-01&until=2020-01-02'],
    ['one row of clients', '/clients?text=only'],
    ['one row of grants', `/grants?user_id=${user}`],
    ['a client', `/clients/${client}`],
    ...['grants', 'activity', 'settings'].map(
      (tab) => [`the ${tab} of a client`, `/clients/${client}?tab=${tab}`] as const,
    ),
    ['a user', `/users/${user}`],
    ['a user without anything', `/users/${other}`],
    ['a grant', `/grants/${grantId}`],
    ['grants for an organization', `/organizations/${organizationId}/grants`],
    ['a grant for an organization', `/organizations/${organizationId}/grants/${grantId}`],
    ['an organization', `/organizations/${organizationId}`],
    ['the sign-in of an organization', `/organizations/${organizationId}?tab=sign-in`],
    ['the activity of an organization', `/organizations/${organizationId}?tab=activity`],
    ['an organization without anything', `/organizations/${emptyId}`],
    ['an organization with a hostile name', `/organizations/${hostileOrganizationId}`],
    ['a group', `/groups/${GROUPS.protected}`],
    ['a group without anything', `/groups/${GROUPS.empty}`],
    ['a group of an organization', `/groups/${encodeURIComponent(`${organizationId}/${GROUPS.own}`)}`],
    ['no such group', '/groups/none'],
    ['an access rule of an organization', `/organizations/${organizationId}/access-rules/${ACCESS_RULES.own}`],
    ...['members', 'groups', 'access-rules', 'installations'].flatMap((list) => [
      [`organization, 50 rows of ${list}`, `/organizations/${organizationId}/${list}`] as const,
      [`organization, first ${list}`, `/organizations/${hostileOrganizationId}/${list}`] as const,
    ]),
    ['organization, no member matches', `/organizations/${organizationId}/members?email=zzz@acme.test`],
    ['no such organization', `/organizations/${unknown.organization}`],
    ['a new rule for domains', '/domains/new'],
    ['a domain to block, with its clients', '/domains/new?ask=domain.block&pattern=board.acme.test'],
    ['a domain to block, of no pattern', '/domains/new?ask=domain.block&pattern=no+domain'],
    ['what is not explained yet', '/access'],
    ['an explanation', `/access?${new URLSearchParams({ user_id: user, client_id: ready.client })}`],
    [
      'an explanation in an organization',
      `/organizations/${organizationId}/access?user_id=${user}&client_id=${client}`,
    ],
    ['an explanation of no such client', `/access?user_id=${user}&client_id=no+such`],
    ['a hostile client', `/clients/${hostileId}`],
    ['the question about a token', '/token'],
    ['the verification of the audit', '/audit/verification'],
    ['a hostile name in a filter', `/clients?text=${encodeURIComponent(HOSTILE)}`],
    ['no such client', `/clients/${unknown.client}`],
    ['no such page', '/nothing'],
    ['a filter that is wrong', '/grants?client_id=x'],
    ['a time that is wrong', '/audit?since=yesterday'],
  ]
  return [
    ...pages.map(([name, path]) => at(console, name, path)),
    ...setUpStates(ready, console),
    ...(await userStates(grantor, console, hostileUser)),
    ...confirmations({ ...ready, user, client, grant: grantId, organization: organizationId, clients: clientIds }).map(
      ([name, path]) => at(console, name, path),
    ),
    {
      name: 'wrong input',
      async show(tab) {
        await tab.goto(`${console}/users?ask=user.create`)
        await tab.locator('[name=email]').fill('no address')
        await tab.getByRole('button', { name: 'Create a user' }).click()
        await tab.locator('#error-email').waitFor()
      },
    },
    {
      name: 'an address that is taken',
      async show(tab) {
        await tab.goto(`${console}/users?ask=user.create`)
        await tab.locator('[name=email]').fill('ada@acme.test')
        await tab.getByRole('button', { name: 'Create a user' }).click()
        await tab.getByRole('alert').waitFor()
      },
    },
    {
      name: 'done, with the way back',
      async show(tab) {
        await tab.goto(`${console}/clients/${client}`)
        await tab.getByRole('button', { name: 'Verify' }).click()
        await tab.getByRole('status').waitFor()
      },
    },
    {
      name: 'no row was chosen',
      async show(tab) {
        await tab.goto(`${console}/clients`)
        await tab.evaluate(`for (const button of document.querySelectorAll('.bar [name=task]')) button.hidden = false`)
        await tab.getByRole('button', { name: 'Verify', exact: true }).click()
        await tab.getByRole('status').waitFor()
      },
    },
    {
      name: 'rows are chosen',
      async show(tab) {
        await tab.goto(`${console}/clients`)
        for (const index of [0, 1, 2]) await tab.getByRole('checkbox').nth(index).check()
        // At the end of the page the bar of the selection covers no row.
        await tab.keyboard.press('End')
      },
    },
    {
      name: 'a secret',
      async show(tab) {
        await tab.goto(`${console}/users/${other}?ask=user.create-link`)
        await tab.locator('form.ask button[type="submit"]').click()
        await tab.locator('.secret').waitFor()
      },
    },
    {
      name: 'what a token is',
      async show(tab) {
        await tab.goto(`${console}/token`)
        await tab.getByLabel('Access token or refresh token').fill(token)
        await tab.getByRole('button', { name: 'Inspect' }).click()
        await tab.getByText('This is an access token, and it works.').waitFor()
      },
    },
    {
      name: 'what is no token',
      async show(tab) {
        await tab.goto(`${console}/token`)
        await tab.getByLabel('Access token or refresh token').fill('x'.repeat(200))
        await tab.getByRole('button', { name: 'Inspect' }).click()
        await tab.getByText('This server did not issue this text as a token').waitFor()
      },
    },
    {
      name: 'a secret in the place of a token',
      async show(tab) {
        await tab.goto(`${console}/token`)
        await tab.getByLabel('Access token or refresh token').fill('gcs_01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ')
        await tab.getByRole('button', { name: 'Inspect' }).click()
        await tab.getByText('another secret').waitFor()
      },
    },
    {
      name: 'the audit is verified',
      async show(tab) {
        await tab.goto(`${console}/audit/verification`)
        await tab.getByRole('button', { name: 'Verify the audit' }).click()
        await tab.getByText('Nothing was changed or removed.').waitFor()
      },
    },
    {
      name: 'the token of credentials',
      async show(tab) {
        await tab.goto(`${console}/credentials?ask=admin.create`)
        await tab.getByLabel('Name').fill('Pipeline')
        await tab.getByRole('button', { name: 'Create credentials' }).click()
        await tab.locator('.secret').waitFor()
      },
    },
    {
      name: 'a secret for programs: initial-token',
      async show(tab) {
        await tab.goto(`${console}/initial-tokens?ask=initial-token.create`)
        await tab.getByLabel('Name').fill('Deployments')
        await tab.getByRole('button', { name: 'Create a token' }).click()
        await tab.locator('.secret').waitFor()
      },
    },
    {
      name: 'wrong input of initial-token',
      async show(tab) {
        await tab.goto(`${console}/initial-tokens?ask=initial-token.create`)
        await tab.getByLabel('Uses').fill('none')
        await tab.getByRole('button', { name: 'Create a token' }).click()
        await tab.locator('#error-uses').waitFor()
      },
    },
    {
      name: 'a rule for domains, with the way back',
      async show(tab) {
        await tab.goto(`${console}/domains/new?ask=domain.block`)
        await tab.getByLabel('Pattern').fill('evil.example')
        await tab.getByRole('button', { name: 'Continue' }).click()
        await tab.getByRole('button', { name: 'Block a domain' }).click()
        await tab.getByRole('status').getByRole('button', { name: 'Undo' }).waitFor()
      },
    },
    {
      name: 'the menu of the screens',
      async show(tab) {
        await tab.setViewportSize({ width: 360, height: 900 })
        await tab.goto(console)
        await tab.locator('.menu summary').click()
      },
    },
    {
      name: 'all rows are chosen',
      async show(tab) {
        await tab.goto(`${console}/clients`)
        await tab.getByRole('checkbox', { name: 'Choose all rows' }).check()
        await tab.keyboard.press('End')
      },
    },
    {
      name: 'the menu of the person',
      async show(tab) {
        await tab.goto(console)
        await tab.evaluate(`for (const one of document.querySelectorAll('.menu, .me')) one.open = true`)
      },
    },
    {
      name: 'the keys',
      async show(tab) {
        await tab.goto(console)
        await tab.keyboard.press('?')
        await tab.getByRole('heading', { name: 'Shortcuts' }).waitFor()
      },
    },
  ]
}

/** The screens for a person with a role for one organization. */
export function organizationStates(console: string, organization: string): readonly State[] {
  const home = `/organizations/${organization}`
  return [
    'grants',
    'members',
    'groups',
    `groups/${encodeURIComponent(`${organization}/${GROUPS.own}`)}`,
    'access-rules',
    `access-rules/${ACCESS_RULES.own}`,
    'access-rules?ask=organization-access-rule.create',
    'access',
    'installations',
    'installations?ask=installation.install',
  ].map((path) => at(console, `role for one organization: ${path}`, `${home}/${path}`))
}

/** The screens for a person who may read, on which nothing can be changed. */
export function readOnlyStates(states: readonly State[]): readonly State[] {
  const shown = states.filter(({ name }) =>
    /^(50 rows|a client|a user|a group|an access rule|a grant|an API|a provider( that|$)|an organization|organization, 50|a new rule)/.test(
      name,
    ),
  )
  return shown.map(({ name, show }) => ({
    name: `read-only: ${name}`,
    async show(tab) {
      await show(tab)
      // The test of a connection changes nothing.
      const buttons = await tab.locator('main form[method=post]:not(:has([value="provider.test"]))').count()
      if (buttons > 0) throw new Error(`A person who may read sees ${buttons} forms.`)
    },
  }))
}

export function at(console: string, name: string, path: string): State {
  return { name, show: (tab) => tab.goto(console + path) }
}

/** The page that asks, for each form that has one, and with many rows. */
function confirmations(known: {
  readonly user: string
  readonly client: string
  readonly grant: string
  readonly organization: string
  readonly resource: string
  readonly provider: string
  readonly clients: readonly string[]
}): readonly (readonly [name: string, path: string])[] {
  const ids: Readonly<Record<string, string>> = {
    client_id: known.client,
    user_id: known.user,
    grant_id: known.grant,
    organization_id: known.organization,
    pattern: 'host-1.example',
    resource: known.resource,
    provider_id: known.provider,
    group_id: GROUPS.protected,
    rule_id: ACCESS_RULES.whole,
  }
  const ownIds: Readonly<Record<string, string>> = {
    group_id: `${known.organization}/${GROUPS.own}`,
    rule_id: ACCESS_RULES.own,
  }
  const idOf = (name: string): string => {
    const found = ids[name]
    if (found === undefined) throw new Error(`There is no ${name} for the path of a screen.`)
    return found
  }
  const single = SCREENS.flatMap((screen) =>
    screen.forms.filter(asksFirst).map((form): readonly [string, string] => {
      const isOfOne = screen.path.includes('{organization_id}')
      const path = screen.path
        .replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          encodeURIComponent(isOfOne ? (ownIds[name] ?? idOf(name)) : idOf(name)),
        )
        .replace('/console', '')
      const { member } = chosenRows(form) ?? {}
      const subject = member === undefined ? '' : `&row=${ids[member] ?? '01a200f2d7f1OGrZM2nOk7CWgjISwIxFbQ'}`
      return [`asks: ${screen.path} ${form.task}`, `${path}?ask=${form.task}${subject}`]
    }),
  )
  const many = known.clients.slice(0, MANY).map((id) => `&row=${id}`)
  return [...single, [`asks for ${MANY} rows`, `/clients?ask=client.delete${many.join('')}`]]
}
