import type { ClientSignatures, SignatureOutcome } from '../ports/client-signatures.ts'
import type { OutboundClient, OutboundOutcome } from '../ports/outbound.ts'
import type { ProviderRecord } from '../ports/records/provider.ts'
import { privateHostsOf } from './provider-fetch.ts'

export interface ProviderKeyOptions {
  readonly outbound: Pick<OutboundClient, 'ask'>
  /** Opens the verifier of what is signed with keys that it gets so. */
  readonly openSignatures: (outbound: Pick<OutboundClient, 'get'>) => ClientSignatures
}

type Signed = Parameters<ClientSignatures['verify']>[0]

/** The keys of providers, which each node has in memory. */
export interface ProviderKeys {
  /** Whether one of the keys at the URI, which the metadata of the provider name, signed the JWT. */
  readonly verify: (provider: ProviderRecord, jwksUri: string, signed: Signed) => Promise<SignatureOutcome>
}

interface Opened {
  readonly signatures: ClientSignatures
  /** The hosts for which they were opened. They are opened again if an operator changes them. */
  readonly hosts: string
}

export function openProviderKeys({ outbound, openSignatures }: ProviderKeyOptions): ProviderKeys {
  const opened = new Map<string, Opened>()

  function signaturesOf({ id, settings }: ProviderRecord): ClientSignatures {
    const privateHosts = privateHostsOf(settings)
    const hosts = privateHosts.join(' ')
    const kept = opened.get(id)
    if (kept?.hosts === hosts) return kept.signatures
    const signatures = openSignatures({ get: ({ url }) => fetchKeys(outbound, url, privateHosts) })
    opened.set(id, { signatures, hosts })
    return signatures
  }

  return {
    verify: (provider, uri, signed) =>
      signaturesOf(provider).verify(signed, { kind: 'jwks_uri', uri, algorithm: undefined }, ''),
  }
}

/** Asks as a sign-in does: the hosts of the provider may have private addresses. A redirect is not followed (threats.md JAG-10). */
async function fetchKeys(
  { ask }: Pick<OutboundClient, 'ask'>,
  url: string,
  privateHosts: readonly string[],
): Promise<OutboundOutcome> {
  const answer = await ask({
    method: 'GET',
    url,
    headers: { accept: 'application/json' },
    body: undefined,
    privateHosts,
  })
  if (answer.kind !== 'answered') return answer
  // A host that refuses for now, or fails, is unreachable already. Any other refusal ends the keys.
  if (answer.status !== 200) return { kind: 'unacceptable', reason: 'status', detail: String(answer.status) }
  return { kind: 'fetched', text: answer.text, etag: undefined, freshSeconds: undefined }
}
