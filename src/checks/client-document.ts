import assert from 'node:assert/strict'
import type { Context } from '../ports/context.ts'
import type { LimitedReason, OutboundOutcome, UnacceptableReason, UnreachableReason } from '../ports/outbound.ts'
import { registrationPolicy } from '../clients/registration-policy.ts'
import { listedNameOf } from '../protocol/client/identity.ts'
import { findDocumentUrlFault, readClientDocument } from '../protocol/client/document.ts'
import { offersDocuments } from '../protocol/client/policy.ts'
import { failed, ok, warning, type Finding } from './finding.ts'

/** The public address and the settings of the server. */
type Server = Pick<Context, 'issuer' | 'settings'>

const CHECK = 'document'
const DIRECT = 'The server needs a name server and direct access to the host: it uses no proxy.'

const UNREACHABLE: Readonly<Record<UnreachableReason | LimitedReason, string>> = {
  off: 'Requests are switched off. Set GRANTOR_OUTBOUND=on.',
  budget: 'Try again in a minute.',
  'name-unresolved': DIRECT,
  'connection-failed': `${DIRECT} For the certificate of a private CA, start it with NODE_EXTRA_CA_CERTS=<file>.`,
  'connection-closed': 'Check what listens at this address.',
  timeout: DIRECT,
  busy: 'Try again in a minute.',
  status: 'The host refuses this request. Ask its operator whether it blocks programs.',
}

const UNACCEPTABLE: Readonly<Record<UnacceptableReason, string>> = {
  url: 'The client needs another URL.',
  address: 'The name leads to an address that is not public. The server connects to public addresses only.',
  redirect: 'The document must be at the URL itself.',
  status: 'The document must be at this URL.',
  'content-type': 'It must be sent as application/json, in UTF-8, and not compressed.',
  'too-large': 'It must have at most 5 KiB.',
  malformed: 'Check what listens at this address.',
}

/** Returns what the server makes of a client metadata document, and why a client with it cannot sign users in. */
export function checkClientDocument(url: string, answer: OutboundOutcome, server: Server): readonly Finding[] {
  return [checkMode(server), checkAnswer(url, answer, server)].filter((finding) => finding !== undefined)
}

function checkMode({ settings }: Server): Finding | undefined {
  if (offersDocuments(settings.clientDocuments)) return undefined
  return warning(CHECK, 'The server accepts no new client with a document.', 'Set GRANTOR_CLIENT_DOCUMENTS.')
}

function checkAnswer(url: string, answer: OutboundOutcome, server: Server): Finding {
  const fault = findDocumentUrlFault(url, server.settings.outbound)
  if (fault !== undefined) return failed(CHECK, `${url} is no client_id: ${fault}`, UNACCEPTABLE.url)
  if ('reason' in answer) {
    const reason = answer.detail === undefined ? answer.reason : `${answer.reason} ${answer.detail}`
    const remedy = answer.kind === 'unacceptable' ? UNACCEPTABLE[answer.reason] : UNREACHABLE[answer.reason]
    return failed(CHECK, `${url} cannot be used: ${reason}.`, remedy)
  }
  assert(answer.kind === 'fetched', 'The request was not conditional.')
  const origin = { source: 'document', verifiedAt: undefined, document: { url } } as const
  // The APIs only narrow the scope of the client, which no finding names.
  const reading = readClientDocument(answer.text, url, registrationPolicy(server, [], origin))
  if (reading.kind === 'refused') return failed(CHECK, `${url} is not accepted. ${reading.reason}`, 'Correct it.')
  const { grant_types: grantTypes, token_endpoint_auth_method: method } = reading.metadata
  return ok(CHECK, `${url} is the client ${listedNameOf(reading.metadata)}: ${method}, ${grantTypes.join(', ')}.`)
}
