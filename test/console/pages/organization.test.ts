import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ConsoleBrowser, giveRole } from '../../../tools/console-browser.ts'
import { openAdminServer, type AdminServer } from '../../support/admin-server.ts'
import { perform, type Members } from '../../support/tasks.ts'

/** The page of an organization: its tabs, where each button is, and the one form that invites a person. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let browser: ConsoleBrowser
const PATH = '/console/organizations/globex'

before(async () => {
  const mail = { GRANTOR_SMTP_URL: 'smtp://mail.acme.test', GRANTOR_MAIL_FROM: 'auth@acme.test' }
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) }, mail)
  await giveRole(stage.server)
  browser = new ConsoleBrowser(stage.server)
  await browser.open()
  await run('organization.create', { organization_id: 'globex', name: 'Globex' })
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

function run(task: string, input: Members): Promise<Members> {
  return perform(stage.server.context, task, input)
}

async function page(path = PATH): Promise<string> {
  const { statusCode, body } = await browser.console.get(path)
  assert.equal(statusCode, 200, body)
  return body
}

/** The words of the tab that is open. */
function currentOf(body: string): string | undefined {
  return /<nav class="tabs"[^]*?aria-current="page"\s*>([^]*?)<\/a/
    .exec(body)?.[1]
    ?.replaceAll(/<[^>]*>/g, '')
    .trim()
}

/** The buttons of the heading: those at once, and those behind "More". */
function buttonsOf(body: string): readonly (readonly string[])[] {
  const [, heading = ''] = /<div class="heading">([^]*?)<nav class="tabs"/.exec(body) ?? []
  const [lead = '', rest = ''] = heading.split('<details')
  return [lead, rest].map((part) =>
    [...part.matchAll(/(?:value="|\?ask=)([a-z]+\.[a-z-]+)"/g)].map(([, task = '']) => task),
  )
}

test('an organization begins with its members, and has the other parts on tabs of its own or of their screens', async () => {
  const body = await page()
  assert.deepEqual(buttonsOf(body), [
    ['member.invite', 'organization.rename'],
    ['organization.disable', 'organization.revoke-tokens', 'organization.delete'],
  ])
  const tabs = [
    ...body.matchAll(
      /<a href="(\/console\/organizations\/globex[^"]*)"[^>]*>\s*(?:Members|Installed apps|Grants|Sign-in|Activity)/g,
    ),
  ]
  const opened = await Promise.all(tabs.map(async ([, to = '']) => currentOf(await page(to))))
  assert.deepEqual(opened, ['Members 0', 'Installed apps 0', 'Grants', 'Sign-in', 'Activity'])
  assert.equal(currentOf(await page(`${PATH}?tab=constructor`)), 'Members 0')
  for (const [, to = ''] of tabs)
    assert.match(
      await page(to),
      /<h1><bdi>Globex<\/bdi> <span class="state good">Active<[^]*Members <span class="count">0/,
    )
  await run('organization.disable', { organization_id: 'globex' })
  assert.deepEqual(buttonsOf(await page())[0], ['organization.enable'])
  await run('organization.enable', { organization_id: 'globex' })
})

test('the sign-in of an organization says at which provider its addresses sign in, and who sees a button of it', async () => {
  const none = await page(`${PATH}?tab=sign-in`)
  const [, connect = ''] = /No provider belongs to the organization[^]*?href="([^"#]*)#connect"/.exec(none) ?? []
  assert.match(await page(connect), /id="connect"[^]*name="organization_id" value="globex"/)
  const chosen = await page(`${connect}&ask=provider.create&template=oidc&provider_id=globex`)
  assert.match(
    chosen,
    /will belong to the organization <code><bdi>globex<[^]*<input[^>]*name="organization_id"[^>]*value="globex"/,
  )
  await run('provider.create', {
    provider_id: 'globex',
    template: 'oidc',
    name: 'Globex ID',
    issuer: 'https://id.globex.example',
    client_id: 'grantor',
    client_secret: 'a-secret-of-the-provider',
    domains: ['globex.example'],
    routing: 'required',
    organization_id: 'globex',
  })
  const body = await page(`${PATH}?tab=sign-in`)
  assert.match(body, /<a href="\/console\/providers\/globex"><bdi>Globex ID<[^]*Enabled/)
  assert.match(body, /<bdi>globex\.example<\/bdi>\s+must sign in there/)
  assert.match(body, /shows its button only to persons whose address is of globex\.example/)
  assert.match(await page(), /<p class="sub">[^]*<span>globex\.example<\/span>/)
})

test('one form invites a person: an account, the membership and a mail, each in the audit with the person who did it', async () => {
  const asked = await browser.console.get(`${PATH}?ask=member.invite`)
  assert.match(asked.body, /<h1>Invite a person to\s+<bdi>Globex<\/bdi><\/h1>/)
  const email = stage.anEmail()
  const invited = await browser.press(asked, 'member.invite', { email, name: 'Olga Weber' })
  assert.match(invited.body, new RegExp(`class="notice[^]*${email.replaceAll('.', '\\.')}</bdi> is invited`))
  assert.equal(currentOf(invited.body), 'Members 1')
  const { events } = (await run('audit.list', { limit: 20 })) as {
    readonly events: readonly { readonly event: string; readonly actor: string | null }[]
  }
  const done = events.filter(({ actor }) => actor?.startsWith('gus_')).map(({ event }) => event)
  for (const event of ['user.created', 'member.added', 'link.created'])
    assert.ok(done.includes(event), `${event}: ${done.join(' ')}`)
  assert.match(await page(`${PATH}?tab=activity`), /<\/a> invited\s/)
  const again = await browser.press(asked, 'member.invite', { email: 'nobody', name: '' })
  assert.match(again.body, /id="error-email"/)
})
