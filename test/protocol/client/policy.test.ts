import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLIENT_AUTH_METHODS } from '../../../src/protocol/client/registration-rules.ts'
import {
  CLIENT_SOURCES,
  evaluateClientPolicy,
  findProductUri,
  isVerified,
  ownCopiesOf,
  REGISTRATION_MODES,
  type ClientPolicy,
  type ClientRights,
  type ClientSource,
  type ClientVerdict,
  type PolicyClient,
  type TrustLevel,
  DEFAULT_RULES,
} from '../../../src/protocol/client/policy.ts'
import { openDomainRules } from '../../../src/protocol/client/domain-rule.ts'
import type { InitialTokenId } from '../../../src/protocol/ids.ts'
import { aClient, NOW } from '../../support/records.ts'

/** What a redirect URI leads to, and a URI of each kind. */
const REDIRECTS = {
  trusted: 'https://app.known.example/cb',
  other: 'https://app.example/cb',
  blocked: 'https://app.bad.example/cb',
  loopback: 'http://127.0.0.1:4000/cb',
  'loopback with TLS': 'https://localhost:4000/cb',
  app: 'com.example.app:/cb',
} as const
type Redirect = keyof typeof REDIRECTS
const OWN_COMPUTER: readonly Redirect[] = ['loopback', 'loopback with TLS', 'app']

const DOCUMENTS = {
  trusted: 'https://known.example/client.json',
  other: 'https://host.example/client.json',
  blocked: 'https://a.bad.example/client.json',
} as const

const domains = openDomainRules([
  { pattern: 'known.example', verdict: 'trusted' },
  { pattern: '*.known.example', verdict: 'trusted' },
  { pattern: '*.bad.example', verdict: 'blocked' },
])

const TOKEN = '0'.repeat(34) as InitialTokenId

interface Case {
  readonly source: ClientSource
  readonly document: keyof typeof DOCUMENTS | undefined
  readonly hasToken: boolean
  readonly isMarked: boolean
  readonly consent: 'asked' | 'implied'
  readonly redirect: Redirect
  /** A second registered redirect URI, which the request does not use. */
  readonly beside: Redirect | undefined
}

const CASES: readonly Case[] = CLIENT_SOURCES.flatMap((source) =>
  (source === 'document' ? (Object.keys(DOCUMENTS) as (keyof typeof DOCUMENTS)[]) : [undefined]).flatMap((document) =>
    (source === 'registration' ? [true, false] : [false]).flatMap((hasToken) =>
      [true, false].flatMap((isMarked) =>
        (['asked', 'implied'] as const).flatMap((consent) =>
          (Object.keys(REDIRECTS) as Redirect[]).flatMap((redirect) =>
            [undefined, ...(Object.keys(REDIRECTS) as Redirect[])].map((beside) => ({
              source,
              document,
              hasToken,
              isMarked,
              consent,
              redirect,
              beside,
            })),
          ),
        ),
      ),
    ),
  ),
)

const MODES = REGISTRATION_MODES.flatMap((registration) =>
  (['open', 'trusted', 'off'] as const).map((documents) => ({ registration, documents })),
)
/** The modes of a public issuer, and those of one on a loopback address. */
const POLICIES = MODES.flatMap((modes) => [true, false].map((isLoopbackIssuer) => ({ ...modes, isLoopbackIssuer })))

/** The rights of each level, said here once more: the function is what is evaluated. `own`: where the redirect leads to the user's computer. */
const RIGHTS: Readonly<
  Record<TrustLevel, { readonly errors: boolean; readonly remembered: { web: boolean; own: boolean } }>
> = {
  verified: { errors: true, remembered: { web: true, own: true } },
  'known-domain': { errors: true, remembered: { web: true, own: false } },
  unverified: { errors: false, remembered: { web: true, own: false } },
}

for (const source of CLIENT_SOURCES) {
  for (const modes of POLICIES) {
    const { registration, documents, isLoopbackIssuer } = modes
    const issuer = isLoopbackIssuer ? 'a loopback' : 'a public'
    const title = `${source}, registration ${registration}, documents ${documents}, ${issuer} issuer`
    test(`WAY-01: each right of each trust level and redirect URI, on entering and in use: ${title}`, () => {
      const levels = new Set<TrustLevel>()
      for (const one of CASES.filter((some) => some.source === source)) {
        for (const moment of ['enter', 'use'] as const) {
          const verdict = evaluate({ ...modes, domains }, one, moment)
          assert.deepEqual(summaryOf(verdict), expected(modes, one, moment), JSON.stringify({ ...one, moment }))
          if (verdict.kind === 'allowed') levels.add(verdict.rights.trust.level)
        }
      }
      assert.equal(levels.size, source === 'operator' ? 1 : 3)
    })
  }
}

function evaluate(policy: ClientPolicy, one: Case, phase: 'enter' | 'use'): ClientVerdict {
  return evaluateClientPolicy(policy, { client: clientOf(one), phase, redirectUri: REDIRECTS[one.redirect] })
}

function clientOf({ source, document, hasToken, isMarked, consent, redirect, beside }: Case): PolicyClient {
  return {
    source,
    verifiedAt: isMarked ? NOW : undefined,
    rules: { ...DEFAULT_RULES, consent },
    document: document === undefined ? undefined : { url: DOCUMENTS[document] },
    initialToken: hasToken ? { id: TOKEN } : undefined,
    metadata: {
      token_endpoint_auth_method: 'client_secret_basic',
      redirect_uris: [redirect, ...(beside === undefined ? [] : [beside])].map((name) => REDIRECTS[name]),
    },
  }
}

function expected(modes: Omit<ClientPolicy, 'domains'>, one: Case, phase: 'enter' | 'use'): unknown {
  const { source, document, hasToken, consent, redirect, beside } = one
  if ([document, redirect, beside].includes('blocked')) return 'domain-blocked'
  if (phase === 'enter' && source === 'registration' && modes.registration === 'closed') return 'registration-closed'
  if (phase === 'enter' && source === 'registration' && modes.registration === 'token' && !hasToken) {
    return 'registration-needs-token'
  }
  if (phase === 'enter' && source === 'document') {
    if (modes.documents === 'off') return 'documents-off'
    if (modes.documents === 'trusted' && document !== 'trusted') return 'document-untrusted'
  }
  const level = levelOf(one)
  const { errors, remembered } = RIGHTS[level]
  const leadsTo = OWN_COMPUTER.includes(redirect) ? 'own' : 'web'
  return {
    level,
    mayReceiveErrors: errors,
    mayRememberConsent: remembered[leadsTo],
    mayImplyConsent:
      source === 'operator' &&
      consent === 'implied' &&
      (leadsTo === 'web' || (modes.isLoopbackIssuer && redirect.startsWith('loopback'))),
    pkce: source === 'operator' ? 'required' : 'always',
    noticeUri: undefined,
  }
}

function levelOf({ source, document, isMarked, redirect, beside }: Case): TrustLevel {
  if (source === 'operator' || isMarked) return 'verified'
  const named = [redirect, beside].filter((name) => name !== undefined)
  // The document of a known domain answers for a redirect to the user's computer; a registration does not.
  const areKnown = named.every((name) => name === 'trusted' || (source === 'document' && OWN_COMPUTER.includes(name)))
  return areKnown && (source === 'registration' || document === 'trusted') ? 'known-domain' : 'unverified'
}

function summaryOf(verdict: ClientVerdict): unknown {
  if (verdict.kind === 'refused') return verdict.reason
  const { trust, ...rights } = verdict.rights
  return { level: trust.level, ...rights } satisfies Omit<ClientRights, 'trust'> & { level: TrustLevel }
}

const USUAL: Case = {
  source: 'registration',
  document: undefined,
  hasToken: false,
  isMarked: false,
  consent: 'asked',
  redirect: 'trusted',
  beside: undefined,
}
const OPEN = { registration: 'open', documents: 'open', isLoopbackIssuer: false, domains } as const

test('WAY-01: a client of a known domain is shown with the host of its document, or else with the one that gets the response', () => {
  const trustOf = (one: Case): unknown => {
    const verdict = evaluate(OPEN, one, 'use')
    return verdict.kind === 'allowed' ? verdict.rights.trust : verdict
  }
  assert.deepEqual(trustOf(USUAL), { level: 'known-domain', host: 'app.known.example' })
  const documented = { ...USUAL, source: 'document', document: 'trusted', redirect: 'loopback' } as const
  assert.deepEqual(trustOf(documented), { level: 'known-domain', host: 'known.example' })
})

test('WAY-01: a client without a redirect URI is not of a known domain, and no consent to it is remembered or implied', () => {
  const client = {
    ...clientOf({ ...USUAL, consent: 'implied' }),
    metadata: { redirect_uris: [], token_endpoint_auth_method: 'none' },
  } as const
  for (const source of CLIENT_SOURCES) {
    const document = source === 'document' ? { url: DOCUMENTS.trusted } : undefined
    const question = { client: { ...client, source, document }, phase: 'use', redirectUri: undefined } as const
    assert.deepEqual(summaryOf(evaluateClientPolicy(OPEN, question)), {
      level: source === 'operator' ? 'verified' : 'unverified',
      mayReceiveErrors: source === 'operator',
      mayRememberConsent: false,
      mayImplyConsent: false,
      pkce: 'always',
      noticeUri: undefined,
    })
  }
})

test('WAY-01: only the rule of a client of the operator that authenticates has an effect, and a nonce counts only with https', () => {
  for (const one of CASES) {
    for (const pkce of ['required', 'nonce', 'optional'] as const) {
      for (const authMethod of CLIENT_AUTH_METHODS) {
        const usual = clientOf(one)
        const client = {
          ...usual,
          rules: { ...usual.rules, pkce },
          metadata: { ...usual.metadata, token_endpoint_auth_method: authMethod },
        }
        const question = { client, phase: 'use', redirectUri: REDIRECTS[one.redirect] } as const
        const verdict = evaluateClientPolicy(OPEN, question)
        if (verdict.kind === 'refused') continue
        const hasRule = one.source === 'operator' && authMethod !== 'none'
        const rule = pkce === 'nonce' && OWN_COMPUTER.includes(one.redirect) ? 'required' : pkce
        assert.equal(verdict.rights.pkce, hasRule ? rule : 'always', JSON.stringify({ ...one, pkce, authMethod }))
      }
    }
  }
})

test('WAY-01: a refusal for a blocked domain names the URI', () => {
  const named = (one: Case): unknown => {
    const verdict = evaluate(OPEN, one, 'enter')
    return verdict.kind === 'refused' && verdict.reason === 'domain-blocked' ? verdict.uri : verdict
  }
  assert.equal(named({ ...USUAL, beside: 'blocked' }), REDIRECTS.blocked)
  assert.equal(named({ ...USUAL, source: 'document', document: 'blocked' }), DOCUMENTS.blocked)
})

test('WAY-01: without the domains a client counts as verified exactly if the policy calls it verified', () => {
  for (const one of CASES) {
    const verdict = evaluate(OPEN, one, 'use')
    if (verdict.kind === 'refused') continue
    assert.equal(isVerified(clientOf(one)), verdict.rights.trust.level === 'verified')
  }
})

test('AG-17: the copies of a client follow its rule, of any other than the operator’s only strict, which is so if it authenticates', () => {
  const rows = CLIENT_SOURCES.flatMap((source) =>
    (['none', 'client_secret_basic'] as const).flatMap((authMethod) =>
      ([undefined, 'network', 'strict'] as const).map((copies) => ({ source, authMethod, copies })),
    ),
  )
  for (const { source, authMethod, copies } of rows) {
    const rules = copies === undefined ? DEFAULT_RULES : { ...DEFAULT_RULES, copies }
    const client = { source, rules, metadata: { ...aClient().metadata, token_endpoint_auth_method: authMethod } }
    const strict = copies === 'strict' ? copies : undefined
    const own = copies ?? (authMethod === 'none' ? undefined : 'strict')
    assert.equal(ownCopiesOf(client), source === 'operator' ? own : strict)
    const fapi = { ...client, rules: { ...rules, profile: 'fapi2' as const } }
    assert.equal(ownCopiesOf(fapi), source === 'operator' ? 'strict' : strict)
  }
})

test('LNK-10: pages lead to the sign-in or the website of a checked client, with https, and to this computer only from there', () => {
  const [login, website] = ['https://app.example/login', 'https://app.example/']
  const cases: readonly (readonly [
    metadata: { readonly initiate_login_uri?: string; readonly client_uri?: string },
    leads: string | undefined,
    locally?: string,
  ])[] = [
    [{ initiate_login_uri: login, client_uri: website }, login],
    [{ client_uri: website }, website],
    [{}, undefined],
    [{ initiate_login_uri: 'http://app.example/login', client_uri: website }, website],
    [{ client_uri: 'http://app.example/' }, undefined],
    [{ client_uri: 'javascript:alert(1)' }, undefined],
    [{ client_uri: 'data:text/html,x' }, undefined],
    [{ client_uri: '//app.example/' }, undefined],
    [{ client_uri: 'https://' }, undefined],
    [{ client_uri: 'com.example.app:/' }, undefined],
    [{ client_uri: 'http://localhost:4000/' }, undefined, 'http://localhost:4000/'],
    [{ client_uri: 'https://127.0.0.1:4000/' }, undefined, 'https://127.0.0.1:4000/'],
    [{ initiate_login_uri: 'https://app.bad.example/login', client_uri: website }, website],
    [{ client_uri: 'https://app.bad.example/' }, undefined],
  ]
  const usual = { registration: 'open', documents: 'open', domains } as const
  for (const [members, leads, locally = leads] of cases) {
    const name = JSON.stringify(members)
    const metadata = { ...aClient().metadata, redirect_uris: [REDIRECTS.other], ...members }
    const registered = aClient({ source: 'registration', verifiedAt: undefined, metadata })
    for (const client of [{ ...registered, verifiedAt: NOW }, aClient({ source: 'operator', metadata })]) {
      assert.equal(findProductUri({ ...usual, isLoopbackIssuer: false }, client), leads, name)
      assert.equal(findProductUri({ ...usual, isLoopbackIssuer: true }, client), locally, name)
      const blocked = { ...client, metadata: { ...metadata, redirect_uris: [REDIRECTS.blocked] } }
      assert.equal(findProductUri({ ...usual, isLoopbackIssuer: true }, blocked), undefined, name)
    }
    // A token verifies its clients within its hosts only.
    const limits = { id: TOKEN, scope: undefined, redirectHosts: ['other.example'] }
    const limited = { ...registered, verifiedAt: NOW, initialToken: limits }
    assert.equal(findProductUri({ ...usual, isLoopbackIssuer: true }, limited), undefined, name)
    // A known domain is no check by the operator.
    const known = { ...registered, metadata: { ...metadata, redirect_uris: [REDIRECTS.trusted] } }
    for (const client of [registered, known])
      assert.equal(findProductUri({ ...usual, isLoopbackIssuer: true }, client), undefined, name)
  }
})
