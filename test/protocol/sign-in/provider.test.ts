import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findProviderFault,
  parseProviderId,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  type ProviderSettings,
} from '../../../src/protocol/sign-in/provider.ts'

const USUAL: ProviderSettings = {
  ...PROVIDER_TEMPLATES.oidc,
  name: 'Acme',
  clientId: 'grantor',
  issuer: 'https://idp.example',
}

const PLAIN = 'The issuer uses https.'
const BARE = 'The issuer has no query, no fragment and no credentials.'
const SHARED =
  'The issuer is that of many tenants. Give the issuer of one: https://login.microsoftonline.com/<tenant id>/v2.0, and create a provider for each tenant.'
const OPEN = 'Anybody can have an account at this provider, so membership is by domains.'
const UNLIMITED =
  'An organization needs at least one domain of the provider (--domain), or --membership anybody if every person of the provider belongs to it.'
const WEAK =
  'Anybody can have an account at this provider, also without a second factor, so the sign-ins there have one factor.'
const DECLARED = { membership: 'anybody', organizationId: 'gor_x' as never } as const
const ORGANIZATION = { organizationId: 'gor_x' as never }
const FAULTS: readonly (readonly [differing: Partial<ProviderSettings>, reason: string, isLoopbackIssuer?: boolean])[] =
  [
    [{ issuer: 'http://idp.example' }, PLAIN],
    [{ issuer: 'http://idp.example' }, PLAIN, true],
    [{ issuer: 'http://127.0.0.1:8080' }, PLAIN, false],
    [{ issuer: 'idp.example' }, 'The issuer is not a URL.'],
    [{ issuer: 'https://idp.example?tenant=1' }, BARE],
    [{ issuer: 'https://user:password@idp.example' }, BARE],
    [{ issuer: 'https://login.microsoftonline.com/common/v2.0' }, SHARED],
    [{ issuer: 'https://login.microsoftonline.com/organizations/v2.0' }, SHARED],
    [{ issuer: 'https://login.microsoftonline.com/consumers' }, SHARED],
    [{ scope: 'email profile' }, 'The scope of an OpenID provider contains openid.'],
    [ORGANIZATION, UNLIMITED],
    [{ signUp: 'anybody', ...ORGANIZATION }, UNLIMITED],
    [{ emailTrust: 'domains', ...ORGANIZATION }, UNLIMITED],
    [{ membership: 'anybody' }, 'Membership for anybody needs an organization (--organization).'],
    [
      { membership: 'anybody', domains: ['acme.test'] },
      'Membership for anybody needs an organization (--organization).',
    ],
    [{ issuer: 'https://accounts.google.com', domains: ['acme.test'], ...DECLARED }, OPEN],
    [{ issuer: 'https://github.com', kind: 'github', ...DECLARED }, OPEN],
    [{ issuer: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0', ...DECLARED }, OPEN],
    [{ multiFactor: true, issuer: 'https://accounts.google.com', domains: ['acme.test'] }, WEAK],
    [{ multiFactor: true, issuer: 'https://github.com', kind: 'github' }, WEAK],
    [{ signUp: 'domains' }, 'Sign-up by domains needs at least one domain of the provider (--domain).'],
    [{ routing: 'required' }, 'Required routing needs at least one domain of the provider (--domain).'],
    [{ link: 'verified-email' }, 'Linking by the e-mail address needs at least one domain of the provider (--domain).'],
  ]

for (const [differing, reason, isLoopbackIssuer = false] of FAULTS) {
  test(`a provider with ${JSON.stringify(differing)} is refused, on a loopback issuer: ${isLoopbackIssuer}`, () => {
    assert.equal(findProviderFault({ ...USUAL, ...differing }, { isLoopbackIssuer }), reason)
  })
}

const USABLE: readonly Partial<ProviderSettings>[] = [
  {},
  {
    domains: ['acme.test'],
    signUp: 'domains',
    routing: 'required',
    link: 'verified-email',
    organizationId: 'gor_x' as never,
  },
  { domains: ['acme.test'], signUp: 'anybody', ...ORGANIZATION },
  { signUp: 'anybody', multiFactor: true, ...DECLARED },
  { issuer: 'https://login.microsoftonline.com/8eaef023-2b34-4da1-9baa-8bc8c9d6a490/v2.0' },
  { kind: 'github', scope: 'read:user user:email' },
  { issuer: 'http://localhost:8080/realms/acme' },
]

for (const differing of USABLE) {
  test(`a provider with ${JSON.stringify(differing)} can be used`, () => {
    assert.equal(findProviderFault({ ...USUAL, ...differing }, { isLoopbackIssuer: true }), undefined)
  })
}

test('the id of a provider is a short slug, and not that of the operator’s own application', () => {
  for (const id of ['google', 'acme-entra-2', 'a']) assert.equal(parseProviderId(id), id)
  for (const id of ['', 'Acme', '2fa', '-a', 'a'.repeat(32), 'a/b', 'a.b', '{provider}', 'delegate']) {
    assert.equal(parseProviderId(id), undefined)
  }
})

test('each provider has a redirect URI of its own, below the path of the issuer', () => {
  assert.equal(
    providerRedirectUri('https://auth.example', 'idp' as never),
    'https://auth.example/v2/oauth/callback/idp',
  )
  assert.equal(providerRedirectUri('https://a.example/x/', 'idp' as never), 'https://a.example/x/v2/oauth/callback/idp')
})
