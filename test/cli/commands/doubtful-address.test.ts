import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { provisionSubject } from '../../../src/admin/user/subject.ts'
import { TASKS } from '../../../src/admin/tasks.ts'
import { IMPORTED } from '../../../src/protocol/sign-in/account.ts'
import { mintUserId } from '../../../src/protocol/ids.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'
import { aUser } from '../../support/records.ts'

const server = await openServerForCommands(WHOLE_FILE)
// No process delivers here.
Object.assign(process.env, { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9', GRANTOR_MAIL_FROM: 'no-reply@acme.test' })
const { clock, store } = server.context
const { organization_id: org } = await commandJson<{ organization_id: string }>(['org', 'create', 'Acme'])

const UNSAID = { isEmailVerified: false, name: undefined, groups: undefined }

/** The accounts that an address may name, and whether another person than that of the address may have chosen it. */
const ACCOUNTS: Readonly<Record<string, readonly [isDoubtful: boolean, create: (email: string) => Promise<unknown>]>> =
  {
    'that is new': [false, (email) => create(email, { passwordHash: undefined })],
    'with a password of the operator': [false, (email) => create(email, {})],
    'that was proved, and is in use': [
      false,
      (email) => create(email, { firstSignedInAt: clock(), emailVerifiedAt: clock() }),
    ],
    'that is in use': [true, (email) => create(email, { firstSignedInAt: clock() })],
    'that the operator’s application has, before the first sign-in': [
      true,
      (email) => provisionSubject(server.context, { ...UNSAID, subject: email, email }),
    ],
    'that was imported with a password': [true, (email) => create(email, { firstSignedInAt: IMPORTED })],
    'that was imported with no way in': [
      false,
      (email) => create(email, { firstSignedInAt: IMPORTED, passwordHash: undefined }),
    ],
  }

async function create(email: string, differing: Parameters<typeof aUser>[0]): Promise<void> {
  const now = clock()
  const user = aUser({
    id: mintUserId(now, randomBytes),
    email,
    emailVerifiedAt: undefined,
    firstSignedInAt: undefined,
    createdAt: now,
    notBefore: now,
    ...differing,
  })
  assert.equal(await store.createUser(user), 'created')
}

/** Each command that gives something to a user. */
const GIVING: readonly (readonly [command: string, (who: string) => readonly string[]])[] = [
  ['role set', (who) => ['role', 'set', who, '--access', 'write']],
  ['role set --link', (who) => ['role', 'set', who, '--access', 'write', '--link']],
  ['org add-member', (who) => ['org', 'add-member', org, who]],
  ['user create-link', (who) => ['user', 'create-link', who]],
  ['user send-link', (who) => ['user', 'send-link', who]],
  ['user set-password', (who) => ['user', 'set-password', who, '--password', 'another long horse']],
  ['user set-email', (who) => ['user', 'set-email', who, '--to', `${randomBytes(6).toString('hex')}@new.test`]],
]

let count = 0
for (const [name, argumentsOf] of GIVING) {
  for (const [state, [isDoubtful, createAccount]] of Object.entries(ACCOUNTS)) {
    test(`CON-34: ${name} by an address ${isDoubtful ? 'finds no account' : 'finds an account'} ${state}${isDoubtful ? ', and by the id it does' : ''}`, async () => {
      count += 1
      const email = `person-${count}@acme.test`
      await createAccount(email)
      const before = await store.findUserByEmail(email)
      assert.ok(before)
      const { id } = before
      const { code, stderr } = await command(argumentsOf(email))
      assert.equal(code, isDoubtful ? 1 : 0, stderr)
      if (!isDoubtful) return
      assert.match(stderr, new RegExp(`never verified[^]*give the id instead of the address: ${id}`))
      assert.deepEqual(
        [await store.findUserByEmail(email), await store.findRole(id), await store.listLinks(id)],
        [before, undefined, []],
      )
      assert.equal((await command(argumentsOf(id))).code, 0)
    })
  }
}

/** The tasks that change a user and give nothing. One that is new needs a row, or `gives`. */
const WITHOUT_GIFT: Readonly<Record<string, string>> = {
  'user.update': 'it changes what is said of the account',
  'user.unlock': 'the account gets back what it had',
  'user.end-sessions': 'it takes away',
  'user.enable': 'the account gets back what it had',
  'user.reset-second-factor': 'it takes away',
  'user.remove-passkey': 'it takes away',
  'user.disable': 'it takes away',
  'user.revoke-tokens': 'it takes away',
  'user.delete': 'it takes away',
  'role.remove': 'it takes away',
  'member.disable': 'it takes away, from a member',
  'member.enable': 'the member gets back what it had',
  'member.remove': 'it takes away, from a member',
  'group.remove-member': 'it takes away, from a member',
  'organization-group.remove-member': 'it takes away, from a member',
}

test('CON-34: each task that changes a user says whether it gives something to the user', () => {
  const changing = TASKS.filter(({ access, path }) => access === 'write' && path.includes('{user_id}'))
  const unsaid = changing.filter(({ name, gives }) => gives === (WITHOUT_GIFT[name] !== undefined))
  assert.deepEqual(
    unsaid.map(({ name }) => name),
    [],
  )
})
