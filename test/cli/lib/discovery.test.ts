import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { checkIssuer } from '../../../src/checks/issuer.ts'
import type { Examination } from '../../../src/checks/finding.ts'
import { probeIssuer } from '../../../src/doctor/discovery.ts'

const CHOICES = {
  issuer: 'https://auth.acme.test',
  isLoopbackIssuer: false,
  host: '127.0.0.1',
  port: 3000,
  trustedProxies: ['127.0.0.1'],
}

/** The findings of an installation behind a proxy. */
function findingsOf(probe: object, choices: object = {}): readonly string[] {
  const store = { keys: [], database: { kind: 'unusable' } }
  const examination = { choices: { ...CHOICES, ...choices }, store, probe, now: Date.now() } as unknown as Examination
  return checkIssuer(examination).flatMap((finding) =>
    finding.verdict === 'ok' ? [] : [`${finding.check}: ${finding.message} ${finding.remedy}`],
  )
}

/** What the doctor says of an answer at the address of the issuer. */
async function evaluateAnswer(t: TestContext, status: number, body: string): Promise<string> {
  const proxy = createServer((_request, response) => response.writeHead(status).end(body)).listen(0, '127.0.0.1')
  t.after(() => proxy.close())
  await new Promise((resolve) => proxy.once('listening', resolve))
  const probe = await probeIssuer(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  return findingsOf(probe).join('\n')
}

const ANSWERS: readonly (readonly [what: string, status: number, body: string, says: RegExp])[] = [
  [
    'a server refuses what looks like plain HTTP',
    400,
    '{"error":"invalid_request","error_description":"…"}',
    /status 400.*X-Forwarded-Proto.*GRANTOR_TRUST_PROXY.*insecure_transport/,
  ],
  ['a proxy reaches no server', 502, '<h1>Bad Gateway</h1>', /GRANTOR_HOST \(127\.0\.0\.1\) and PORT \(3000\)/],
  ['no server is ready', 503, '{"error":"temporarily_unavailable"}', /GRANTOR_HOST.*\/health\/ready/],
  ['a proxy reaches no server in time', 504, '', /GRANTOR_HOST/],
  ['a proxy does not forward the path', 404, 'not found', /forward this path to Grantor unchanged/],
  ['another program answers', 200, 'hello', /forward this path to Grantor unchanged/],
]

for (const [what, status, body, says] of ANSWERS) {
  test(`the doctor says what to do when ${what} (${status})`, async (t) => {
    assert.match(await evaluateAnswer(t, status, body), says)
  })
}

test('the doctor warns of a server that only its machine reaches, behind proxies on other machines', () => {
  const answered = { kind: 'answered', address: 'a', issuer: CHOICES.issuer }
  for (const trustedProxies of [['10.0.0.1'], ['10.0.0.0/8', '2001:db8::/64']]) {
    assert.match(findingsOf(answered, { trustedProxies })[0] ?? '', /^network: .* 127\.0\.0\.1, .* GRANTOR_HOST/)
    assert.deepEqual(findingsOf(answered, { trustedProxies, host: '10.0.0.11' }), [])
  }
  for (const trustedProxies of [['127.0.0.1'], ['10.0.0.1', '127.0.0.0/8'], ['::1']]) {
    assert.deepEqual(findingsOf(answered, { trustedProxies }), [])
  }
})
