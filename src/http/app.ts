import cookie from '@fastify/cookie'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { BlockList, isIPv6 } from 'node:net'
import type { Context } from '../ports/context.ts'
import type { Branding } from '../ports/pages.ts'
import { createRenderer } from '../web/render.ts'
import { refuseBytes } from './broken-request.ts'
import { openGate } from './gate.ts'
import { openReplies } from './reply.ts'
import { BODY_LIMIT, mountEndpoints, refuse, refuseUnknownPath, type LogOutcome, type Serving } from './routes.ts'
import { cookieJar } from './session.ts'

export interface AppOptions {
  readonly context: Context
  readonly branding: Branding
  /** Networks in CIDR notation whose `X-Forwarded-*` headers are believed. Empty: nobody's. */
  readonly trustedProxies: readonly string[]
  readonly log: LogOutcome
}

/** Slow requests hold a connection no longer than this (threats.md NET-03). */
const TIMEOUTS = { requestTimeout: 30_000, connectionTimeout: 60_000, keepAliveTimeout: 65_000 }
/** A stop waits this long for requests under way. Then it cuts them, or one slow caller could hold it up for a minute. */
const STOP_PATIENCE_MS = 5000

/** The endpoints over Fastify. Ready to `inject` or to `listen`. */
export async function createApp({ context, branding, trustedProxies, log }: AppOptions): Promise<FastifyInstance> {
  const renderer = createRenderer(branding)
  const jar = cookieJar(context.issuer, context.settings.lifetimes.session)
  const serving: Serving = {
    context,
    jar,
    log,
    replies: openReplies(renderer, jar, context.issuer),
    gate: openGate({
      issuer: context.issuer,
      isAccepting: context.isAccepting,
      isTrustedPeer: peerTest(trustedProxies),
    }),
  }
  const app = fastify({
    ...TIMEOUTS,
    bodyLimit: BODY_LIMIT,
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    onProtoPoisoning: 'error',
    // The gate answers while the process stops, in our words.
    return503OnClosing: false,
    clientErrorHandler: refuseBytes,
    frameworkErrors: (cause, request, reply) =>
      void refuse(serving, request as FastifyRequest, reply as unknown as FastifyReply, cause),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setErrorHandler((cause, request, reply) => refuse(serving, request, reply, cause))
  app.setNotFoundHandler((_request, reply) => refuseUnknownPath(serving, reply))
  app.decorateRequest('startedAt', 0)
  app.addHook('preClose', async () => {
    setTimeout(() => app.server.closeAllConnections(), STOP_PATIENCE_MS).unref()
  })
  mountEndpoints(app, serving, 'json')
  // In a scope of their own: only pages have cookies to parse.
  await app.register(async (pages) => {
    await pages.register(cookie)
    mountEndpoints(pages, serving, 'page')
  })
  return app
}

function peerTest(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/', 2)
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) =>
    list.check(
      address.replace(/^::ffff:(?=\d+\.)/, ''),
      isIPv6(address) && !/^::ffff:\d+\./.test(address) ? 'ipv6' : 'ipv4',
    )
}
