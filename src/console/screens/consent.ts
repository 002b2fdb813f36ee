import { clientNames, type NAME_MEMBERS } from '../../protocol/client/identity.ts'
import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import { viewDestination } from '../../clients/destination.ts'
import type { ClientTrust } from '../../protocol/client/policy.ts'
import type { ConsentPage } from '../../ports/pages/pages.ts'
import { html } from '../../web/markup.ts'
import { screen } from '../screen.ts'

interface Answers {
  readonly client: ClientDocument
  readonly apis: { readonly apis: readonly ApiDocument[] }
}

/** What a person is asked, for the scopes that the client registered. The page is a document of its own, in which nothing works. */
export const CONSENT = screen<Answers>({
  path: '/console/clients/{client_id}/consent',
  section: 'clients',
  reads: {
    client: { task: 'client.show', input: () => ({}) },
    apis: { task: 'api.list', input: () => ({}) },
  },
  filters: [],
  forms: [],
  names: () => ({}),
  view: () => ({ title: 'How a person sees it', main: html`<h1>How a person sees it</h1>` }),
  preview({ client, apis: { apis } }, { place }) {
    const scopes = requestable(client, apis)
    return consentTo(client, {
      ageSeconds: Math.max(0, place.now / 1000 - client.client_id_issued_at),
      scopes,
      apis: apis.filter((api) => api.scopes.some(({ name }) => scopes.includes(name))),
    })
  },
})

/** The page on which a client asks for scopes. `apis`: those that it asks for. */
export function consentTo(
  client: Pick<ClientDocument, (typeof NAME_MEMBERS)[number] | 'redirect_uris' | 'document_url' | 'trust_level'>,
  {
    ageSeconds,
    scopes,
    apis,
  }: { readonly ageSeconds: number; readonly scopes: readonly string[]; readonly apis: readonly ApiDocument[] },
): ConsentPage {
  const [uri = 'https://app.example'] = client.redirect_uris
  return {
    kind: 'consent',
    nothing: undefined,
    action: NOWHERE,
    hidden: {},
    client: {
      name: clientNames(client),
      trust: trustOf(client),
      ageSeconds,
      documentHost: client.document_url === null ? undefined : new URL(client.document_url).host,
      destination: viewDestination(uri),
    },
    scopes: scopes.map((name) => ({
      name,
      sentences: apis.flatMap((api) => api.scopes.flatMap((one) => (one.name === name ? [one.sentence] : []))),
      box: undefined,
    })),
    setUpUri: undefined,
    resources: apis.map(({ name, resource, scopes: own }) => ({
      name: name ?? undefined,
      identifier: resource,
      isLimited: own.length > 0,
    })),
    account: { name: 'Ada Lovelace', detail: 'ada@example.com', isWithoutEmail: false },
    device: undefined,
    organization: undefined,
    problem: undefined,
    appsUri: NOWHERE,
    switchUri: NOWHERE,
  }
}

const NOWHERE = '#'

/** The registered scopes without those that only approved clients may have, unless this one is approved. */
function requestable({ scope = '', approved_scope: approved }: ClientDocument, apis: readonly ApiDocument[]): string[] {
  const mayHave = new Set(approved.split(' '))
  const declared = apis.flatMap((api) => api.scopes)
  const isGiven = (token: string): boolean =>
    mayHave.has(token) || !declared.some((one) => one.name === token && one.granted_to === 'approved-clients')
  return scope.split(' ').filter((token) => token !== '' && isGiven(token))
}

function trustOf({
  trust_level: level,
  document_url: url,
  redirect_uris: [uri],
}: Pick<ClientDocument, 'trust_level' | 'document_url' | 'redirect_uris'>): ClientTrust {
  if (level !== 'known-domain') return { level: level === 'verified' ? 'verified' : 'unverified' }
  return { level, host: new URL(url ?? uri ?? 'https://unknown.invalid').host }
}
