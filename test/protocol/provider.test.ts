import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findProviderFault,
  parseProviderId,
  PROVIDER_TEMPLATES,
  providerRedirectUri,
  type ProviderSettings,
} from '../../src/protocol/provider.ts'

const USUAL: ProviderSettings = {
  ...PROVIDER_TEMPLATES.oidc,
  name: 'Acme',
  clientId: 'grantor',
  issuer: 'https://idp.example',
}

const FAULTS: readonly (readonly [differing: Partial<ProviderSettings>, member: string, isLoopbackIssuer?: boolean])[] =
  [
    [{ issuer: 'http://idp.example' }, 'issuer'],
    [{ issuer: 'http://idp.example' }, 'issuer', true],
    [{ issuer: 'http://127.0.0.1:8080' }, 'issuer', false],
    [{ issuer: 'idp.example' }, 'issuer'],
    [{ issuer: 'https://idp.example?tenant=1' }, 'issuer'],
    [{ issuer: 'https://user:password@idp.example' }, 'issuer'],
    [{ issuer: 'https://login.microsoftonline.com/common/v2.0' }, 'issuer'],
    [{ issuer: 'https://login.microsoftonline.com/organizations/v2.0' }, 'issuer'],
    [{ issuer: 'https://login.microsoftonline.com/consumers' }, 'issuer'],
    [{ scope: 'email profile' }, 'scope'],
    [{ signUp: 'anybody', organizationId: 'gor_x' as never }, 'signUp'],
    [{ signUp: 'domains' }, 'signUp'],
    [{ routing: 'required' }, 'routing'],
    [{ link: 'verified-email' }, 'link'],
  ]

for (const [differing, member, isLoopbackIssuer = false] of FAULTS) {
  test(`a provider with ${JSON.stringify(differing)} is refused because of ${member}, on a loopback issuer: ${isLoopbackIssuer}`, () => {
    assert.equal(findProviderFault({ ...USUAL, ...differing }, { isLoopbackIssuer })?.member, member)
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
