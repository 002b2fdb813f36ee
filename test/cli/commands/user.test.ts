import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runHere, runJsonHere } from '../../support/command.ts'
import { openPlace, run } from '../../support/process.ts'
import { said } from '../../support/tasks.ts'

interface User {
  readonly profile: object
  readonly user_id: string
  readonly email: string
  readonly name: string | null
  readonly disabled_at: string | null
  readonly has_password: boolean
  readonly email_verified_at: string | null
  readonly not_before: string
}

const ADA = ['--email', 'ada@acme.test', '--password', 'correct horse battery staple']

test('user create, list, disable, enable and set-password change the user and print text', async (t) => {
  const place = await openPlace(t)
  const created = await run(place, ['user', 'create', ...ADA, '--name', 'Ada'])
  assert.match(created.stdout, new RegExp(`^${said('user.create', { email: 'ada@acme\\.test' })}\n$`))
  assert.match(created.stderr, /^grantor: There was no database at .*; it was created\./)
  const { stdout } = await runHere(place, ['user', 'list'])
  const [headings = '', row = ''] = stdout.split('\n')
  assert.match(row, /^ada@acme\.test {2}Ada {3}never-signed-in {2}never /)
  assert.equal(headings.indexOf('NAME'), row.indexOf('Ada'), 'The columns are aligned.')
  assert.match((await runHere(place, ['user', 'disable', 'ada@acme.test'])).stdout, /is disabled/)
  assert.match((await runHere(place, ['user', 'list'])).stdout, /disabled/)
  assert.match((await runHere(place, ['user', 'enable', '--email', 'ADA@acme.test'])).stdout, /may sign in again/)
  const changed = await run(place, ['user', 'set-password', 'ada@acme.test', '--password', '-'], {
    input: 'a new one, at last!\n',
  })
  assert.match(changed.stdout, /has a new password/)
})

test('CON-33: a command that a message names is about the user, also if the address begins as an option', async (t) => {
  const place = await openPlace(t)
  const create = (email: string) =>
    runJsonHere<User>(place, ['user', 'create', `--email=${email}`, '--password', 'correct horse battery staple'])
  await create('bob@acme.test')
  const stranger = await create('--email=bob@acme.test')
  const { stdout } = await runHere(place, ['user', 'disable', stranger.user_id])
  assert.ok(stdout.includes(` user enable ${stranger.user_id}\n`), stdout)
})

test('--json prints one document without a hash', async (t) => {
  const place = await openPlace(t)
  const user = await runJsonHere<User>(place, ['user', 'create', ...ADA])
  assert.deepEqual(
    [user.email, user.name, user.disabled_at, Object.keys(user).length],
    ['ada@acme.test', null, null, 11],
  )
  assert.notEqual((await runJsonHere<User>(place, ['user', 'disable', 'ada@acme.test'])).disabled_at, null)
  assert.equal((await runJsonHere<User>(place, ['user', 'enable', 'ada@acme.test'])).disabled_at, null)
  const { stdout } = await runHere(place, ['user', 'set-password', ...ADA, '--json'])
  const changed = JSON.parse(stdout) as User
  assert.equal(changed.user_id, user.user_id)
  assert.ok(changed.not_before > user.not_before, 'Earlier tokens are inactive.')
  const list = await runHere(place, ['user', 'list', '--json'])
  const [listed] = (JSON.parse(list.stdout) as { readonly users: readonly User[] }).users
  assert.partialDeepStrictEqual(listed, { user_id: changed.user_id, not_before: changed.not_before })
  assert.doesNotMatch(list.stdout, /argon2|hash/i)
})

test('a user can have no password, and get one later', async (t) => {
  const place = await openPlace(t)
  const create = ['user', 'create', '--email', 'ada@acme.test', '--no-password']
  assert.match(
    (await runHere(place, create)).stdout,
    new RegExp(`^${said('user.create', { email: 'ada@acme\\.test' })}\n$`),
  )
  const show = ['user', 'show', 'ada@acme.test']
  assert.equal((await runJsonHere<User>(place, show)).has_password, false)
  await runHere(place, ['user', 'set-password', ...ADA])
  assert.equal((await runJsonHere<User>(place, show)).has_password, true)
})

test('a user is created with claims of the profile, and an address that is known to be the user’s', async (t) => {
  const place = await openPlace(t)
  const claims = ['--set', 'preferred_username=ada', '--set', 'address.country=GB']
  const create = ['user', 'create', '--email', 'ada@acme.test', '--no-password', '--verified', ...claims]
  const user = await runJsonHere<User & { readonly profile: object; readonly email_verified_at: string | null }>(
    place,
    create,
  )
  assert.deepEqual(user.profile, { preferred_username: 'ada', address: { country: 'GB' } })
  assert.notEqual(user.email_verified_at, null)
})

test('a link to set a password is printed with what it does; a new address is the one to sign in with', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['user', 'create', '--email', 'ada@acme.test', '--no-password'])
  const invitation = await runHere(place, ['user', 'create-link', 'ada@acme.test'])
  assert.match(
    invitation.stdout,
    /^http:\/\/localhost:\d+\/account\/link\?token=gln_\S{99}\n\nHand this link to ada@acme\.test: it works once, until \S+ \S+ UTC\.\nWith it the user sets a password, or adds a passkey\.\n$/,
  )
  await runHere(place, ['user', 'set-password', ...ADA])
  const reset = await runHere(place, ['user', 'create-link', 'ada@acme.test'])
  assert.match(reset.stdout, /Using it ends all sessions and grants of the user\.\n$/)
  const send = ['user', 'send-link', 'ada@acme.test']
  assert.match((await runHere(place, send)).stderr, /The server sends no mail\. Set GRANTOR_SMTP_URL/)
  const environment = { GRANTOR_SMTP_URL: 'smtp://127.0.0.1:9', GRANTOR_MAIL_FROM: 'no-reply@acme.test' }
  const { stdout: sent } = await runHere(place, send, { environment })
  assert.match(
    sent,
    /^A mail with a link goes to ada@acme\.test\. The link works once, until \S+ \S+ UTC\.\nWith it the user sets .*\nUsing it ends/,
  )
  assert.match((await runHere(place, send, { environment })).stderr, /on its way to ada@acme\.test/)
  const unlocked = await runHere(place, ['user', 'unlock', 'ada@acme.test'])
  assert.match(unlocked.stdout, new RegExp(said('user.unlock', { user_id: 'ada@acme\\.test \\(gus_\\S+\\)' })))
  const ended = await runHere(place, ['user', 'end-sessions', 'ada@acme.test'])
  assert.match(
    ended.stdout,
    new RegExp(said('user.end-sessions', { user_id: 'ada@acme\\.test \\(gus_\\S+\\)', sessions: '0' })),
  )
  const set = ['user', 'set-email', 'ada@acme.test', '--to', 'Ada@Other.test']
  assert.match((await runHere(place, set)).stdout, /^ada@acme\.test \(gus_\S+\) now signs in with ada@other\.test\.\n$/)
  const show = ['user', 'show', 'ada@other.test']
  assert.equal((await runJsonHere<User>(place, show)).email_verified_at, null)
  await runHere(place, ['user', 'set-email', 'ada@other.test', '--to', 'ada@other.test', '--verified'])
  assert.notEqual((await runJsonHere<User>(place, show)).email_verified_at, null)
})

test('user update sets and removes what apps see of a user', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['user', 'create', ...ADA])
  const role = await runHere(place, ['user', 'update', 'ada@acme.test', '--set', 'role=admin'])
  assert.deepEqual([role.code, role.stdout], [2, ''])
  assert.match(
    role.stderr,
    /"role" is not a claim of the profile\. There are: given_name, .*, website, address\.<part>\.\n$/,
  )
  const update = (...words: string[]) => runJsonHere<User>(place, ['user', 'update', 'ada@acme.test', ...words])
  const parts = ['address.country=GB', 'address.locality=London', 'phone_number=+44 1', 'phone_number_verified=true']
  const set = ['given_name=Ada', ...parts].flatMap((one) => ['--set', one])
  const user = await update('--name', 'Ada Lovelace', ...set)
  const address = { country: 'GB', locality: 'London' }
  assert.deepEqual(
    [user.name, user.profile],
    ['Ada Lovelace', { given_name: 'Ada', phone_number: '+44 1', phone_number_verified: true, address }],
  )
  const less = await update('--name', '', '--unset', 'address', '--set', 'given_name=Augusta')
  const phone = { phone_number: '+44 1', phone_number_verified: true }
  assert.deepEqual([less.name, less.profile], [null, { given_name: 'Augusta', ...phone }])
  for (const words of [
    ['--set', 'given_name'],
    ['--set', 'made_up=x'],
    ['--set', 'website=javascript:1'],
    ['--unset', 'phone_number'],
    [],
  ])
    assert.notEqual((await runHere(place, ['user', 'update', 'ada@acme.test', ...words])).code, 0, words.join(' '))
})

test('a list continues where the previous page ended', async (t) => {
  const place = await openPlace(t)
  for (const name of ['a', 'b', 'c']) {
    await runHere(place, [
      'user',
      'create',
      '--email',
      `${name}@acme.test`,
      '--password',
      'correct horse battery staple',
    ])
  }
  const first = await runJsonHere<{ users: readonly User[]; next: string }>(place, ['user', 'list', '--limit', '2'])
  assert.deepEqual(
    first.users.map(({ email }) => email),
    ['c@acme.test', 'b@acme.test'],
  )
  const second = await runJsonHere<{ users: readonly User[]; next: null }>(place, [
    'user',
    'list',
    '--before',
    first.next,
  ])
  assert.deepEqual([second.users.map(({ email }) => email), second.next], [['a@acme.test'], null])
})

const REFUSED: readonly (readonly [why: string, code: number, words: readonly string[], says: RegExp])[] = [
  ['no address', 2, ['create', '--password', 'correct horse battery staple'], /--email/],
  [
    'a malformed address',
    1,
    ['create', '--email', 'ada', '--password', 'correct horse battery staple'],
    /not an e-mail address/,
  ],
  [
    'a short password',
    1,
    ['create', '--email', 'b@acme.test', '--password', 'short'],
    /^grantor: --password: A password has at least 15 characters\. Four words are easy to remember\.\n$/,
  ],
  [
    'PWD-01: a password made of the name',
    1,
    ['create', '--email', 'b@acme.test', '--name', 'Bob Brown', '--password', 'bob.brown-123456'],
    /^grantor: --password: This password is easy to guess\. Four words are easy to remember\.\n$/,
  ],
  [
    'PWD-01: a password made of the address',
    1,
    ['set-password', 'ada@acme.test', '--password', 'ada@acme.test!!!'],
    /^grantor: --password: This password is easy to guess\./,
  ],
  ['a taken address', 1, ['create', ...ADA], /already/],
  ['a name with control characters', 1, ['create', ...ADA, '--name', 'A\u001b[2J'], /control character/],
  ['no password and no terminal', 2, ['create', '--email', 'b@acme.test'], /--password -/],
  ['an empty standard input', 2, ['create', '--email', 'b@acme.test', '--password', '-'], /Standard input is empty/],
  ['no user named', 2, ['disable'], /The email is missing/],
  ['two different names', 2, ['enable', 'a@acme.test', '--email', 'b@acme.test'], /Give one email/],
  [
    'an unknown user',
    1,
    ['set-password', 'nobody@acme.test', '--password', 'correct horse battery staple'],
    /no user.*user list/,
  ],
  ['a limit that is too high', 1, ['list', '--limit', '1001'], /--limit: This must be at most 1000/],
  ['a start that is no user id', 1, ['list', '--before', 'a/b'], /not a user id/],
  [
    'a password and none',
    2,
    ['create', '--email', 'b@acme.test', '--no-password', '--password', 'correct horse battery staple'],
    /--password and --no-password exclude each other/,
  ],
  ...['given_name=', 'given_name=null'].map(
    (set) =>
      [`--set ${set}`, 2, ['update', 'ada@acme.test', '--set', set], /To remove it: .* --unset given_name/] as const,
  ),
  ['an unknown verb', 2, ['rename'], /unknown command/],
  ['an unknown option', 2, ['list', '--colour'], /unknown option/],
]

test('an error is one message with the right exit code and no stack', async (t) => {
  const place = await openPlace(t)
  await runHere(place, ['user', 'create', ...ADA])
  await Promise.all(
    REFUSED.map(([why, code, words, says]) =>
      t.test(why, async () => {
        const finished = await runHere(place, ['user', ...words])
        assert.equal(finished.code, code, finished.stderr)
        assert.match(finished.stderr, says)
        assert.equal(finished.stdout, '')
        assert.doesNotMatch(finished.stderr, /\n {4}at /)
      }),
    ),
  )
})
