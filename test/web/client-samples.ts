import type { RedirectDestination } from '../../src/ports/pages/parts.ts'
import type { ClientView } from '../../src/ports/pages/pages.ts'

/** The clients of the samples. */

export const hidden = { authorization: 'az_4f9c', csrf: 'cs_81d2' }

export const cursor: ClientView<RedirectDestination> = {
  name: 'Cursor',
  trust: { level: 'unverified' },
  ageSeconds: 180,
  documentHost: undefined,
  destination: { kind: 'this-computer', host: '127.0.0.1:43110' },
}

export const verified: ClientView<RedirectDestination> = {
  name: 'Build Board',
  trust: { level: 'verified' },
  ageSeconds: 8_000_000,
  documentHost: undefined,
  destination: { kind: 'host', host: 'board.example.com' },
}

export const known: ClientView<RedirectDestination> = {
  name: 'Claude',
  trust: { level: 'known-domain', host: 'claude.ai' },
  ageSeconds: 8_000_000,
  documentHost: 'claude.ai',
  destination: { kind: 'host', host: 'claude.ai' },
}

/** A client whose metadata document is on another host than its redirect URI. */
export const described: ClientView<RedirectDestination> = { ...cursor, name: 'Claude Code', documentHost: 'claude.ai' }

export const app: ClientView<RedirectDestination> = {
  name: undefined,
  trust: { level: 'unverified' },
  ageSeconds: 20,
  documentHost: undefined,
  destination: { kind: 'app', scheme: 'com.example.notes' },
}

export const endless: ClientView<RedirectDestination> = {
  name: 'W'.repeat(5000),
  trust: { level: 'unverified' },
  ageSeconds: 1e9,
  documentHost: undefined,
  destination: { kind: 'host', host: `${'long-label.'.repeat(22)}example:8443` },
}
