import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PROVIDER_TEMPLATES, type ProviderSettings } from '../../../src/protocol/sign-in/provider.ts'
import {
  identityKey,
  evaluateIdentity,
  mergeClaims,
  type ProviderClaims,
} from '../../../src/protocol/sign-in/provider-identity.ts'
import { domainOf } from '../../../src/protocol/sign-in/email-address.ts'

function settings(
  template: keyof typeof PROVIDER_TEMPLATES,
  differing: Partial<ProviderSettings> = {},
): ProviderSettings {
  return {
    ...PROVIDER_TEMPLATES[template],
    name: 'Acme',
    clientId: 'grantor',
    domains: ['acme.test'],
    issuer: 'https://idp.example',
    ...differing,
  }
}

interface Case {
  readonly title: string
  readonly settings: ProviderSettings
  readonly claims: ProviderClaims
  /** Whether the address is trusted, and within the domains. */
  readonly expected: readonly [isTrusted: boolean, isWithin: boolean]
}

const OIDC = settings('oidc')
const ENTRA = settings('entra')
const GOOGLE = settings('google')
/** The domains of the other providers. */
const isOfAnother = (domain: string) => domain === 'other.test'
const ADA = { sub: 'ada', tid: 'tenant', oid: 'object', email: 'ada@acme.test' }

const CASES: readonly Case[] = [
  { title: 'a claim', settings: OIDC, claims: { ...ADA, email_verified: true }, expected: [true, true] },
  { title: 'no claim', settings: OIDC, claims: ADA, expected: [false, false] },
  { title: 'the text "true"', settings: OIDC, claims: { ...ADA, email_verified: 'true' }, expected: [false, false] },
  {
    title: 'a claim about an address of another domain',
    settings: OIDC,
    claims: { ...ADA, email: 'ada@else.test', email_verified: true },
    expected: [true, false],
  },
  {
    title: 'a claim that the operator does not trust',
    settings: settings('oidc', { emailTrust: 'none' }),
    claims: { ...ADA, email_verified: true },
    expected: [false, false],
  },
  { title: 'Entra: an address of the domain', settings: ENTRA, claims: ADA, expected: [true, true] },
  {
    title: 'Entra: an address of another domain (nOAuth)',
    settings: ENTRA,
    claims: { ...ADA, email: 'ada@victim.test' },
    expected: [false, false],
  },
  { title: 'Entra: xms_edov is false', settings: ENTRA, claims: { ...ADA, xms_edov: false }, expected: [false, false] },
  { title: 'Entra: xms_edov is "0"', settings: ENTRA, claims: { ...ADA, xms_edov: '0' }, expected: [false, false] },
  { title: 'Entra: xms_edov is true', settings: ENTRA, claims: { ...ADA, xms_edov: true }, expected: [true, true] },
  {
    title: 'a domain that says that it is not verified',
    settings: ENTRA,
    claims: { ...ADA, email_verified: false },
    expected: [false, false],
  },
  {
    title: 'Google: the address of an organization',
    settings: GOOGLE,
    claims: { ...ADA, email_verified: true, hd: 'acme.test' },
    expected: [true, true],
  },
  {
    title: 'Google: a personal account with the address of a company',
    settings: GOOGLE,
    claims: { ...ADA, email_verified: true },
    expected: [false, false],
  },
  {
    title: 'Google: the address of one organization at another',
    settings: GOOGLE,
    claims: { ...ADA, email_verified: true, hd: 'evil.test' },
    expected: [false, false],
  },
  {
    title: 'UP-23: a claim about an address of the domain of another provider',
    settings: OIDC,
    claims: { ...ADA, email: 'ada@OTHER.test', email_verified: true },
    expected: [false, false],
  },
  {
    title: 'a claim about an address below the domain of another provider, which is another domain',
    settings: OIDC,
    claims: { ...ADA, email: 'ada@sub.other.test', email_verified: true },
    expected: [true, false],
  },
  {
    title: 'UP-22: a claim about an address below the domain of the provider',
    settings: OIDC,
    claims: { ...ADA, email: 'ada@sub.acme.test', email_verified: true },
    expected: [true, false],
  },
  {
    title: 'Google: an address of Google Mail',
    settings: GOOGLE,
    claims: { ...ADA, email: 'ada@gmail.com', email_verified: true },
    expected: [true, false],
  },
]

for (const { title, settings: declared, claims, expected } of CASES) {
  test(`UP-01, UP-09: the trust in an address: ${title}: ${expected.join(', ')}`, () => {
    const identity = evaluateIdentity(declared, claims, isOfAnother)
    assert.deepEqual([identity?.isEmailTrusted, identity?.isWithinDomains], expected)
  })
}

const WITHOUT_DOMAIN = [
  'a@evil.test@acme.test',
  '"a@acme.test"@evil.test',
  '"a"@acme.test',
  'ada@acme.test.',
  'ada@acme',
  'ada@.acme.test',
  'ada@acme.test ',
  ' ada@acme.test',
  'ada@acme.test\0',
  'ada\n@acme.test',
  'ada@ａcme.test',
  'ﬁona@acme.test',
  '\u212Aim@acme.test',
  '\u212Bke@acme.test',
  'ada@acme.\u212Ar',
  `${'a'.repeat(300)}@acme.test`,
  'acme.test',
  '@acme.test',
  'ada@[10.0.0.1]',
  '',
]

test('UP-08: a domain in Unicode is the domain of its A-label, and no other one', () => {
  const rules = { ...OIDC, domains: ['xn--bcher-kva.example', 'acme.test'], domainClaim: 'hd' }
  const read = (email: string, hd: unknown) => {
    const found = evaluateIdentity(rules, { sub: 'x', email, email_verified: true, hd }, isOfAnother)
    return [found?.email, found?.isWithinDomains]
  }
  for (const hd of ['bücher.example', 'xn--bcher-kva.example', 'Bücher.Example'])
    for (const email of ['ada@bücher.example', 'Ada@BÜCHER.example', 'ada@XN--bcher-kva.example'])
      assert.deepEqual(read(email, hd), ['ada@xn--bcher-kva.example', true], email)
  assert.deepEqual(read('ada@bücher.example', 'bucher.example'), ['ada@xn--bcher-kva.example', false])
  assert.deepEqual(read('ada@аcme.test', 'acme.test'), ['ada@xn--cme-5cd.test', false])
  // These become another domain, or lose a character.
  for (const email of ['ada@bu\u0308cher.example', 'ada@ac\u00adme.test', 'ada@acme\u3002test', 'ada@bücher.example.'])
    assert.deepEqual(read(email, 'acme.test'), [undefined, false], email)
})

for (const email of WITHOUT_DOMAIN) {
  test(`UP-08: ${JSON.stringify(email.slice(0, 30))} is of no domain, and no account's address`, () => {
    const identity = evaluateIdentity(OIDC, { sub: 'x', email, email_verified: true }, isOfAnother)
    assert.deepEqual([identity?.email, identity?.isEmailTrusted, identity?.isWithinDomains], [undefined, false, false])
  })
}

test('UP-01: a denial in the ID token or in userinfo counts, for each rule of trust, wherever the address is', () => {
  const addresses = [{}, { email: ADA['email'] }, { email: 'eve@acme.test' }]
  const verdicts = [undefined, true, false, null, 'true', 'false', 0]
  const owners = [undefined, true, '1', false, 0, '0', 'false']
  for (const rules of [OIDC, ENTRA]) {
    for (const [one, other] of addresses.flatMap((left) => addresses.map((right) => [left, right] as const))) {
      for (const [left, right] of verdicts.flatMap((said) => verdicts.map((more) => [said, more] as const))) {
        const idToken = { tid: 'tenant', oid: 'object', sub: 'ada', ...one, email_verified: left }
        const userinfo = { sub: 'ada', ...other, email_verified: right }
        const identity = evaluateIdentity(rules, mergeClaims(idToken, userinfo), isOfAnother)
        const message = JSON.stringify([rules.emailTrust, idToken, userinfo])
        const first = 'email' in one ? idToken : userinfo
        assert.equal(identity?.email, first.email, message)
        const isDenied = [left, right].some((said) => said !== undefined && said !== true)
        const isSaid = first.email_verified === true || rules === ENTRA
        assert.equal(identity?.isEmailTrusted, first.email !== undefined && isSaid && !isDenied, message)
      }
    }
    for (const [left, right] of owners.flatMap((said) => owners.map((more) => [said, more] as const))) {
      const idToken = { ...ADA, tid: 'tenant', oid: 'object', email_verified: true, xms_edov: left }
      const merged = mergeClaims(idToken, { sub: 'ada', xms_edov: right })
      const isDenied = [left, right].some((said) => said !== undefined && said !== true && said !== '1')
      assert.equal(evaluateIdentity(rules, merged, isOfAnother)?.isEmailTrusted, !isDenied, String([left, right]))
    }
  }
})

test('UP-19: each spelling of a domain is that domain, where the domain restricts', () => {
  const spellings = ['Ada@ACME.test', 'ada@acme.test.', '"ada"@acme.test', 'a,b@acme.test', 'ada@ａcme.test']
  for (const email of spellings) assert.equal(domainOf(email), 'acme.test')
  assert.equal(domainOf('ada@bücher.example'), 'xn--bcher-kva.example')
  for (const email of ['ada@sub.acme.test', 'ada@acme.test.evil.test']) assert.notEqual(domainOf(email), 'acme.test')
  assert.equal(domainOf('ada@'), undefined)
})

test('UP-08: upper case is the same domain, and a longer domain is another one', () => {
  assert.equal(domainOf('Ada@ACME.test'), 'acme.test')
  assert.equal(
    evaluateIdentity(OIDC, { ...ADA, email: 'Ada@ACME.test', email_verified: true }, isOfAnother)?.email,
    'ada@acme.test',
  )
  for (const email of ['ada@sub.acme.test', 'ada@xacme.test', 'ada@acme.test.evil.test']) {
    assert.equal(evaluateIdentity(OIDC, { ...ADA, email, email_verified: true }, isOfAnother)?.isWithinDomains, false)
  }
})

test('the subject is the claim of the settings; without a usable one there is no identity', () => {
  assert.equal(evaluateIdentity(OIDC, ADA, isOfAnother)?.subject, 'ada')
  assert.equal(evaluateIdentity(ENTRA, ADA, isOfAnother)?.subject, 'tenant/object')
  for (const claims of [
    {},
    { sub: '' },
    { sub: 7 },
    { sub: 'x'.repeat(256) },
    { sub: null },
    { sub: 'a\0' },
    { sub: 'a\ud800' },
  ]) {
    assert.equal(evaluateIdentity(OIDC, claims, isOfAnother), undefined)
  }
  assert.equal(evaluateIdentity(ENTRA, { sub: 'ada', oid: 'object' }, isOfAnother), undefined)
})

test('a name that would change the text around it is left out', () => {
  assert.equal(evaluateIdentity(OIDC, { ...ADA, name: 'Ada' }, isOfAnother)?.name, 'Ada')
  for (const name of ['Ada\u202e', '', 7, 'x'.repeat(201)]) {
    assert.equal(evaluateIdentity(OIDC, { ...ADA, name }, isOfAnother)?.name, undefined)
  }
})

test('the key of an identity differs by provider, issuer and subject', () => {
  const provider = { id: 'idp' as never, issuer: 'https://idp.example' }
  const keys = [
    identityKey(provider, 'ada'),
    identityKey(provider, 'bob'),
    identityKey({ ...provider, id: 'other' as never }, 'ada'),
    identityKey({ ...provider, issuer: 'https://idp.example/' }, 'ada'),
  ]
  assert.equal(new Set(keys).size, keys.length)
  assert.equal(identityKey(provider, 'ada'), keys[0])
  // Stored keys have to be found again, so the value never changes.
  const google = { id: 'google' as never, issuer: 'https://accounts.google.com' }
  assert.equal(identityKey(google, 'ada'), 'l8Pbf1mVc3QlvgIhOeObR5yQEcYVz0BSOv4mNm1oong')
})
