import type { FastifyRequest } from 'fastify'
import type { Endpoint } from '../endpoints/index.ts'
import { invalidRequest, unavailable } from '../protocol/errors.ts'

/** Whether a request may come in at all, before anything of it is read. */
export interface Gate {
  /** @throws OAuthError invalid_request, temporarily_unavailable */
  readonly check: (request: FastifyRequest, endpoint: Endpoint) => void
}

export interface GateOptions {
  readonly issuer: string
  readonly isAccepting: () => boolean
  /** Whether the peer is one of the operator's proxies. */
  readonly isTrustedPeer: (address: string) => boolean
}

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/

/**
 * Turns away what comes while the process stops, and plain HTTP from outside for an https issuer: secrets went over the
 * wire then, and an answer that works would hide it (threats.md NET-01; RFC 9700 §2.6).
 */
export function openGate({ issuer, isAccepting, isTrustedPeer }: GateOptions): Gate {
  const isHttps = issuer.startsWith('https:')
  return {
    check(request, { plain }) {
      if (!isAccepting() && plain !== true) throw unavailable('shutting_down', 1)
      if (isHttps && plain !== true && !cameByTls(request, isTrustedPeer)) throw invalidRequest('insecure_transport')
    },
  }
}

/** A trusted proxy says how the request came to it; a process on this machine is not across a wire. */
function cameByTls(request: FastifyRequest, isTrustedPeer: (address: string) => boolean): boolean {
  const peer = request.socket.remoteAddress ?? ''
  const said = request.headers['x-forwarded-proto']
  if (isTrustedPeer(peer)) return said === undefined ? LOOPBACK.test(peer) : request.protocol === 'https'
  return LOOPBACK.test(peer)
}
