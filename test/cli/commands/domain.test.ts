import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DomainDocument } from '../../../src/admin/domain.ts'
import { KNOWN_DOMAINS } from '../../../src/protocol/client/domain-rule.ts'
import { WHOLE_FILE } from '../../support/authorize-answers.ts'
import { command, commandJson, openServerForCommands } from '../../support/command.ts'
import { said } from '../../support/tasks.ts'

const server = await openServerForCommands(WHOLE_FILE)

async function listed(): Promise<readonly DomainDocument[]> {
  return (await commandJson<{ domains: readonly DomainDocument[] }>(['domain', 'list'])).domains
}

async function words(...typed: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await command(['domain', ...typed])
  assert.deepEqual([code, stderr], [0, ''], typed.join(' '))
  return stdout
}

test('domain: domains are trusted, blocked, listed with their notes, and forgotten', async () => {
  assert.match(await words('list'), /^No domain is trusted or blocked\. .*grantor domain trust --known\n$/)
  assert.match(await words('trust', '*.Acme.example', '--note', 'ours'), /^Trusted from now on: \*\.acme\.example\./)
  assert.match(
    await words('block', 'bad.example'),
    new RegExp(
      `^${said('domain.block', { 'domains.pattern': 'bad\\.example' })} To undo this: grantor domain forget bad\\.example\n`,
    ),
  )
  assert.match(
    await words('list'),
    /^PATTERN +VERDICT +SET \(UTC\) +NOTE\n\*\.acme\.example +trusted +\S+ \S+ +ours\nbad\.example +blocked +\S+ \S+ +–\n$/,
  )
  assert.match(
    await words('block', '*.acme.example'),
    /Until now \*\.acme\.example was trusted, with the note: ours\.\n.*hosts below acme\.example, not for acme\.example itself: grantor domain block acme\.example\n/,
  )
  assert.deepEqual(
    (await listed()).map(({ pattern, verdict, note }) => [pattern, verdict, note]),
    [
      ['*.acme.example', 'blocked', null],
      ['bad.example', 'blocked', null],
    ],
  )
  assert.match(await words('forget', 'BAD.example'), /^bad\.example is no longer trusted or blocked\./)
  await words('forget', '*.acme.example')
  assert.deepEqual(await listed(), [])
})

test('domain: --known trusts the domains of widespread clients', async () => {
  assert.match(await words('trust', '--known'), /^Trusted from now on: claude\.ai, vscode\.dev, /)
  assert.deepEqual(
    (await listed()).map(({ pattern }) => pattern),
    KNOWN_DOMAINS.toSorted(),
  )
  for (const pattern of KNOWN_DOMAINS) await words('forget', pattern)
})

test('domain: a URL of a document is a pattern, and is forgotten by it', async () => {
  const url = 'https://code.example/ada/client.json?v=1&w=%2F'
  await words('trust', url)
  assert.deepEqual(
    (await listed()).map(({ pattern }) => pattern),
    [url],
  )
  await words('forget', url)
})

for (const [typed, code, message] of [
  [['trust'], 2, /Give a pattern, or --known/],
  [['trust', 'a.example', '--known'], 2, /Give a pattern, or --known/],
  [['block'], 2, /The pattern is missing/],
  [['trust', 'co.uk'], 1, /"co\.uk" is a public suffix, below which anyone can have a host/],
  [['block', '*.10.0.0.1'], 1, /"\*\.10\.0\.0\.1" has an address/],
  [['block', 'https://a.example/'], 1, /is not the URL of a client metadata document/],
  [['block', 'no such domain'], 1, /This is neither a host/],
  [['forget', 'a.example'], 1, /There is no rule for a\.example\. See "grantor domain list"/],
] as const) {
  test(`domain ${typed.join(' ')}: the command fails and says why`, async () => {
    const result = await command(['domain', ...typed])
    assert.equal(result.code, code, result.stderr)
    assert.match(result.stderr, message)
  })
}

test('domain: a server has at most 1,000 rules, and a rule can still be replaced then', async () => {
  const { store } = server.context
  const changedAt = server.context.clock()
  const patterns = Array.from({ length: 1000 }, (_, index) => `host-${index}.example`)
  await Promise.all(
    patterns.map((pattern) => store.setDomainRule({ pattern, verdict: 'trusted', note: undefined, changedAt })),
  )
  const refused = await command(['domain', 'trust', 'one-more.example'])
  assert.match(refused.stderr, /There are rules for 1000 domains\. A server has at most 1000\./)
  await words('block', 'host-7.example')
  const page = await words('list', '--limit', '2')
  assert.match(page, /More rows follow: --before host-1\.example\n$/)
  assert.match(await words('list', '--limit', '1', '--before', 'host-1.example'), /host-10\.example/)
})
