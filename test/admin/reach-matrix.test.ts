import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asAdministrator, outOfReach } from '../../src/admin/administrators.ts'
import { AdminError } from '../../src/admin/admin-error.ts'
import { runTask } from '../../src/admin/run-task.ts'
import { isReading, mayPerform, pathParameters, type Administrator, type Task } from '../../src/admin/task.ts'
import { requireTask, TASKS } from '../../src/admin/tasks.ts'
import { chosenRows } from '../../src/console/engine/form.ts'
import { SCREENS } from '../../src/console/screens.ts'
import type { RoleRecord } from '../../src/ports/records/role.ts'
import type { OrganizationId } from '../../src/protocol/ids.ts'
import { authorizeUrl, locationOf, PASSWORD, PlainBrowser, redeem, type RegisteredClient } from '../../tools/flow.ts'
import { ConsoleBrowser, giveRole } from '../../tools/console-browser.ts'
import { createAccount } from '../support/accounts.ts'
import { openAdminServer, type AdminServer } from '../support/admin-server.ts'
import { isChosen } from '../support/runner/cases.ts'
import { perform } from '../support/tasks.ts'

/** What each access is offered for each kind of account, against what the store refuses: both are asked. */

const ends: (() => unknown)[] = []
let stage: AdminServer
let own: OrganizationId
let other: OrganizationId
let client: RegisteredClient

before(async () => {
  // The forms of mails are there. Nothing is delivered.
  const mail = { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9', GRANTOR_MAIL_FROM: 'no-reply@acme.test' }
  stage = await openAdminServer({ after: (end) => void ends.push(end as () => unknown) }, mail)
  own = await stage.makeOrganization()
  other = await stage.makeOrganization()
  client = await stage.makeClient()
})

after(async () => {
  for (const end of ends.toReversed()) await end()
})

interface Caller {
  readonly access: RoleRecord['access']
  readonly within?: 'own'
  readonly isTrial?: true
}

const CALLERS: readonly Caller[] = [
  ...(['support', 'users', 'write'] as const).flatMap((access): Caller[] => [{ access }, { access, within: 'own' }]),
  { access: 'write', isTrial: true },
]

interface Account {
  readonly role?: 'trial' | 'lasting'
  /** Of `other` too. Each one is a member of `own`. */
  readonly isElsewhere?: true
  readonly wasInUse?: true
}

const ACCOUNTS: readonly Account[] = [
  {},
  { isElsewhere: true },
  { wasInUse: true },
  { role: 'trial' },
  { role: 'lasting' },
  { role: 'lasting', isElsewhere: true },
]

/** What each task needs besides the ids of its path. */
const INPUTS: Readonly<Record<string, () => object>> = {
  'user.set-password': () => ({ password: PASSWORD }),
  'user.set-email': () => ({ email: stage.anEmail() }),
  'user.update': () => ({ name: 'Grace' }),
  'role.set': () => ({ access: 'read', loopback_only: true }),
}

/** Tasks that end what the others are about, or change who may touch it. */
const LAST = ['session.end', 'user.end-sessions', 'role.set', 'role.remove', 'member.remove', 'user.delete']

/** The tasks that change something of one user, by a path with one of these. */
const OF_USERS = ['user_id', 'session_id', 'grant_id']

function tasksOf({ access, organizationId }: Administrator): readonly Task[] {
  const orderOf = ({ name }: Task): number => LAST.indexOf(name)
  return TASKS.filter(
    (task) =>
      !isReading(task) &&
      mayPerform({ access }, task) &&
      (organizationId === undefined || task.extent === 'organization') &&
      pathParameters(task).some((name) => OF_USERS.includes(name)),
  ).toSorted((one, next) => orderOf(one) - orderOf(next))
}

/** The ids of a user, and of what the user has. */
type Subject = Readonly<
  Record<'user_id' | 'session_id' | 'grant_id' | 'passkey_id' | 'organization_id' | 'email', string>
>

/** A user who is signed in and allowed an app. No person used the account before it became a member, unless it says so. */
async function makeSubject({ role, isElsewhere, wasInUse }: Account): Promise<Subject> {
  const { server } = stage
  const { context } = server
  // So that the newest users are on the first page of a list.
  server.clock.advance(1)
  const email = stage.anEmail()
  const { id: user_id } = await createAccount(server, { email, password: PASSWORD, name: 'A Person' })
  if (wasInUse === true) await allow(email, {})
  const organizations = isElsewhere === true ? [own, other] : [own]
  for (const organization_id of organizations) await perform(context, 'member.add', { organization_id, user_id })
  await allow(email, { org_id: own })
  if (role !== undefined)
    await perform(context, 'role.set', { user_id, access: 'read', loopback_only: role === 'trial' })
  const [[session], grants] = await Promise.all([
    context.store.listSessions({ userId: user_id, before: undefined, limit: 1 }),
    context.store.listGrants({ userId: user_id, organizationId: own, before: undefined, limit: 1 }),
  ])
  return {
    user_id,
    email,
    passkey_id: 'q83vEjRWeJCrze8SNFZ4kA',
    organization_id: own,
    session_id: session?.id ?? assert.fail(),
    grant_id: grants[0]?.id ?? assert.fail(),
  }
}

/** A sign-in of the request of an app, which the user allows. */
async function allow(email: string, parameters: Readonly<Record<string, string>>): Promise<void> {
  const browser = new PlainBrowser(stage.server)
  const signIn = await browser.get(locationOf(await browser.get(authorizeUrl(client, parameters))))
  const consent = await browser.get(locationOf(await browser.submit(signIn, { email, password: PASSWORD })))
  const allowed = new URL(locationOf(await browser.submit(consent, { decision: 'allow' })))
  const answer = await redeem(stage.server, client, allowed.searchParams.get('code') ?? '')
  assert.equal(answer.statusCode, 200, answer.body)
}

/** Whether the task refuses the account as out of reach, whatever else it says. */
async function isRefused(administrator: Administrator, task: Task, subject: Subject): Promise<boolean> {
  const { context } = stage.server
  const given: Readonly<Record<string, string>> = subject
  const ids = Object.fromEntries(pathParameters(task).map((name) => [name, given[name]]))
  const input = { ...ids, ...INPUTS[task.name]?.() }
  try {
    await runTask(asAdministrator(context, administrator), task, input, () => undefined)
    return false
  } catch (cause) {
    assert.ok(cause instanceof AdminError, `${task.name}: ${String(cause)}`)
    return cause.message === outOfReach(administrator).message
  }
}

/** The pages that ask before the task, of each screen that has it for this person, and the screens themselves. */
function pagesOf({ organizationId }: Administrator, { name }: Task, subject: Subject) {
  const given: Readonly<Record<string, string>> = subject
  return SCREENS.flatMap(({ path, forms, reads }) => {
    const form = forms.find((one) => one.task === name)
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, one = '']) => one)
    const isThere =
      organizationId === undefined ||
      Object.values(reads).every((one) => requireTask(one.task).extent === 'organization')
    if (form === undefined || !isThere || names.some((one) => given[one] === undefined)) return []
    const screen = path.replaceAll(/\{(\w+)\}/g, (_, one: string) => encodeURIComponent(given[one] ?? ''))
    const { member } = chosenRows(form) ?? {}
    const asked = new URLSearchParams({ ask: name, ...(member === undefined ? {} : { row: given[member] ?? '' }) })
    return [{ screen, asked: `${screen}?${asked.toString()}`, isOfObject: member === undefined }]
  })
}

async function signInAs({ access, within, isTrial }: Caller) {
  const { server } = stage
  const email = stage.anEmail()
  await createAccount(server, { email, password: PASSWORD, name: undefined })
  const organizationId = within === undefined ? undefined : own
  const userId = await giveRole(server, access, email, organizationId)
  if (isTrial === true) await perform(server.context, 'role.set', { user_id: userId, access, loopback_only: true })
  const browser = new ConsoleBrowser(server)
  await browser.open('/console', { email })
  const holder = { userId, roleSince: server.clock.now(), notBefore: server.clock.now() }
  const administrator: Administrator = {
    actor: userId,
    access,
    organizationId,
    holder,
    isLoopbackOnly: isTrial === true,
  }
  return { browser, administrator }
}

for (const [order, caller] of CALLERS.entries())
  test(`CON-38: ${JSON.stringify(caller)} is offered for each account what the store does, and nothing else`, async () => {
    const { browser, administrator } = await signInAs(caller)
    const wrong: string[] = []
    let refusals = 0
    for (const [row, account] of ACCOUNTS.entries()) {
      const usual = await makeSubject(account)
      for (const [column, task] of tasksOf(administrator).entries()) {
        if (!isChosen(order, row, column)) continue
        const subject = LAST.includes(task.name) ? await makeSubject(account) : usual
        const what = `${JSON.stringify(account)} ${task.name}`
        const pages = pagesOf(administrator, task, subject)
        const answers = await Promise.all(
          pages.map(async ({ screen, asked, isOfObject }) => ({
            status: (await browser.console.get(asked)).statusCode,
            isButton:
              isOfObject && (await browser.console.get(screen)).body.includes(`name="task" value="${task.name}"`),
          })),
        )
        const refused = await isRefused(administrator, task, subject)
        refusals += refused ? 1 : 0
        if (refused && task.touches === undefined) wrong.push(`${what}: touches nothing, and is refused`)
        for (const { status, isButton } of answers)
          if (status !== (refused ? 409 : 200) || (refused && isButton))
            wrong.push(`${what}: ${status}${isButton ? ', a button' : ''}, ${refused ? '' : 'not '}refused`)
      }
    }
    assert.deepEqual(wrong, [])
    assert.equal(refusals > 0, caller.access !== 'write' || caller.within !== undefined || caller.isTrial === true)
  })
