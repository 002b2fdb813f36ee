import { createServer, type Server } from 'node:http'
import type { Context } from '../ports/context.ts'
import type { Branding } from '../ports/pages.ts'
import { createRenderer } from '../web/render.ts'
import { refuseBytes } from './broken-request.ts'
import { openGate } from './gate.ts'
import { openProxies } from './proxies.ts'
import { openReplies } from './reply.ts'
import { openRoutes } from './routes.ts'
import { serve, type LogOutcome, type Serving } from './serve.ts'
import { cookieJar } from './session.ts'
import { openTurnEnd } from './turn-end.ts'

export interface AppOptions {
  readonly context: Context
  readonly branding: Branding
  /** Networks in CIDR notation whose `X-Forwarded-*` headers are believed. Empty: nobody's. */
  readonly trustedProxies: readonly string[]
  readonly log: LogOutcome
}

/** Slow requests hold a connection no longer than this (threats.md NET-03). */
const TIMEOUTS = { requestTimeout: 30_000, headersTimeout: 30_000, keepAliveTimeout: 65_000 }
/** A connection on which nothing moves, whatever it waits for. */
const SILENCE_TIMEOUT_MS = 60_000

/** The endpoints over HTTP. Does not listen yet. */
export function createApp({ context, branding, trustedProxies, log }: AppOptions): Server {
  const jar = cookieJar(context.issuer, context.settings.lifetimes.session)
  const proxies = openProxies(trustedProxies)
  const serving: Serving = {
    context,
    jar,
    log,
    proxies,
    turnEnd: openTurnEnd(),
    findRoute: openRoutes(context.issuer),
    replies: openReplies(createRenderer(branding), jar, context.issuer),
    gate: openGate({ issuer: context.issuer, proxies }),
  }
  // A request without a body costs less when nobody waits for its end.
  const options = { ...TIMEOUTS, optimizeEmptyRequests: true }
  // Whoever cannot even be refused is hung up on.
  return createServer(
    options,
    (message, response) => void serve(serving, message, response).catch(() => response.destroy()),
  )
    .on('clientError', refuseBytes)
    .setTimeout(SILENCE_TIMEOUT_MS)
}
