import type * as library from 'openid-client'
import type { CustomFetch } from 'openid-client'
import type { OutboundClient } from '../ports/outbound.ts'
import { isObject, parseJson } from '../base/json.ts'
import type { ProviderSettings } from '../protocol/sign-in/provider.ts'
import { ProviderUnavailable } from './failure.ts'

/** openid-client, which is loaded at the first sign-in at a provider. */
export type Library = typeof library

/** The requests of openid-client to one provider, through the only way out of this process. */
export function openProviderFetch(
  { ask }: Pick<OutboundClient, 'ask'>,
  settings: Pick<ProviderSettings, 'issuer' | 'kind' | 'privateHosts'>,
): CustomFetch {
  const privateHosts = privateHostsOf(settings)
  // The signal of openid-client is not needed: the outbound client ends each request earlier.
  return async (url, { method, headers, body }) => {
    const answer = await ask({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      // openid-client sends forms, and the JSON for the API of Entra.
      body: body instanceof URLSearchParams || typeof body === 'string' ? body.toString() : undefined,
      privateHosts,
    })
    if (answer.kind !== 'answered') throw new ProviderUnavailable(answer)
    return new Response(answer.text === '' ? null : answer.text, {
      status: settings.kind === 'github' && refuses(answer.text) ? 400 : answer.status,
      headers: { 'content-type': answer.contentType },
    })
  }
}

/** The hosts that the operator named, of which one is that of the issuer. */
export function privateHostsOf({
  issuer,
  privateHosts,
}: Pick<ProviderSettings, 'issuer' | 'privateHosts'>): readonly string[] {
  return [new URL(issuer).hostname, ...privateHosts]
}

/** GitHub refuses a code or a secret with the status 200, and the error of RFC 6749 §5.2 in the body. */
function refuses(text: string): boolean {
  const answer = parseJson(text)
  return isObject(answer) && typeof answer['error'] === 'string'
}
