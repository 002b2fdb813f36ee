import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { UserId } from '../../../../src/protocol/ids.ts'
import { command, openServerForCommands } from '../../../support/command.ts'
import { WHOLE_FILE } from '../../../support/authorize-answers.ts'
import { PROGRAM } from '../../../../tools/process/command-line.ts'
import { temporaryFolder } from '../../../support/server.ts'
import { aUserLine, readReport, writeInput, writeRecords } from '../../../import/importing.ts'

const { context } = await openServerForCommands(WHOLE_FILE)

test('import users: what it did, the report for its owner only, and exit codes 0, 1, 2 and 3', async (t) => {
  const report = join(temporaryFolder(t), 'report')
  const password_hash = '$2b$04$b2JFR358tkfUeHA75xI0heDYFlY3yebD4oi7F1ySmn1q5Ja6J6V3C'
  const good = writeRecords(t, [aUserLine('ada', { password_hash }), aUserLine('4711')])
  const dry = await command(['import', 'users', good, '--dry-run'])
  assert.match(dry.stdout, /^Nothing was written\. An import would do this:\nUsers: 2 created\n/)
  assert.match(dry.stdout, /\nTo see which records, and the details: --report <file>\n$/)
  assert.equal(await context.store.findUser('ada' as UserId), undefined)
  const done = await command(['import', 'users', good, '--report', report])
  assert.equal(done.code, 0)
  assert.match(
    done.stdout,
    /^Users: 2 created\n\n {2}1 needs_link: [^\n]+user create-link"[^]*\n1 user keeps an id that looks like a name/,
  )
  assert.equal(statSync(report).mode & 0o777, 0o600)
  assert.deepEqual(readReport(report).report[1], {
    line: 2,
    kind: 'user',
    source_id: '4711',
    id: '4711',
    outcome: 'created',
    reason: 'needs_link',
  })
  const differing = writeRecords(t, [aUserLine('ada', { password_hash, name: 'Ada' })])
  const { stdout: differs } = await command(['import', 'users', differing])
  assert.match(differs, /^Users: 1 differs\n[^]*\nTo see which records, and the details: --report <file>\n$/)
  // A report is never written over another file.
  const before = readFileSync(report, 'utf8')
  const again = await command(['import', 'users', good, '--report', report])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /it exists already/)
  assert.equal(readFileSync(report, 'utf8'), before)
  const partly = await command(['import', 'users', writeInput(t, '{}\n'), '--json'])
  assert.equal(partly.code, 3)
  assert.partialDeepStrictEqual(JSON.parse(partly.stdout), { user: { refused: 1 }, reasons: { record_malformed: 1 } })
  const weakened = writeRecords(t, [aUserLine('f', { has_second_factor: true }), aUserLine('g')])
  const lost = await command(['import', 'users', weakened])
  assert.equal(lost.code, 1)
  assert.match(lost.stderr, /--without-second-factor/)
  const dryLost = await command(['import', 'users', weakened, '--dry-run'])
  assert.equal(dryLost.code, 3)
  assert.match(
    dryLost.stdout,
    /^Nothing was written, and without --without-second-factor [^]*\nUsers: 1 created, 1 refused\n/,
  )
  for (const words of [
    [],
    [good, '--provider', 'there'],
    [good, '--server', 'http://localhost:1'],
    [good, '--only', 'x'],
  ])
    assert.equal((await command(['import', 'users', ...words])).code, 2, words.join(' '))
})

test('import: what is skipped on purpose is counted with its reasons, and the exit code is 0', async (t) => {
  const clients = [
    { clientId: 'urn:acme:saml', protocol: 'saml', enabled: true },
    { clientId: 'orders-api', bearerOnly: true, enabled: true },
  ]
  const realm = await command(['import', 'keycloak', writeInput(t, JSON.stringify({ realm: 'acme', clients }))])
  assert.equal(realm.code, 0)
  assert.match(realm.stdout, /^Clients: 2 skipped\n\n {2}1 not_openid: [^\n]+\n {2}1 bearer_only: /)
  const users = writeInput(t, JSON.stringify({ users: [{ localId: 'fb', email: 'fb@acme.test' }] }))
  assert.match((await command(['import', 'firebase', users])).stdout, /\nAn export of firebase-tools before 15\.23 /)
})

test('import users --schema prints what the example of the page meets', async () => {
  const { code, stdout } = await command(['import', 'users', '--schema'])
  assert.equal(code, 0)
  const { oneOf } = JSON.parse(stdout) as { readonly oneOf: readonly { readonly properties: object }[] }
  const known = oneOf.map(({ properties }) => new Set(Object.keys(properties)))
  const page = readFileSync('docs/moving.md', 'utf8')
  const examples = page.match(/^\{"type":.*\}$/gm) ?? []
  assert.equal(examples.length, 4)
  for (const example of examples) {
    const names = Object.keys(JSON.parse(example) as object)
    assert.ok(
      known.some((one) => names.every((name) => one.has(name))),
      example,
    )
  }
})

test('IMP-06: after kill -9 in the middle there are whole users only, and a second run stores the others', async (t) => {
  const count = 600
  const lines = Array.from({ length: count }, (_, index) =>
    aUserLine(`k-${index}`, { identities: [{ provider: 'delegate', subject: `k-${index}` }] }),
  )
  const file = writeRecords(t, lines)
  const report = join(temporaryFolder(t), 'report')
  const folder = dirname(report)
  const isWritten = new Promise<void>((resolve) => {
    const watcher = watch(folder, () => {
      if ((statSync(report, { throwIfNoEntry: false })?.size ?? 0) === 0) return
      watcher.close()
      resolve()
    })
  })
  const child = spawn(process.execPath, [PROGRAM, 'import', 'users', file, '--report', report], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  await Promise.race([isWritten, ended])
  child.kill('SIGKILL')
  await ended
  const { store } = context
  const stored = await Promise.all(lines.map((_, index) => store.findUser(`k-${index}` as UserId)))
  const users = stored.filter((user) => user !== undefined)
  assert.ok(users.length >= 100)
  for (const { id } of users) assert.equal((await store.listIdentities(id)).length, 1, id)
  const { code, stdout } = await command(['import', 'users', file, '--json'])
  assert.equal(code, 0)
  const { user } = JSON.parse(stdout) as { readonly user: { readonly created?: number; readonly same?: number } }
  assert.deepEqual([user.same, (user.created ?? 0) + (user.same ?? 0)], [users.length, count])
})
