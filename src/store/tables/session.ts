import { bigint, group, optionalGroup, table, text } from '../table.ts'
import type { SessionRecord } from '../../ports/records/user.ts'
import type { Authentication, AuthenticationMethod } from '../../protocol/sign-in/authentication.ts'

export const SESSIONS = table<SessionRecord>({
  id: text('session_id'),
  hash: text('session_hash'),
  userId: text('user_id'),
  rootId: text('root_id'),
  authentication: group<Authentication>({
    methods: {
      columns: [{ name: 'methods', type: 'text', write: (methods) => methods.join(' ') }],
      read: (row) => (row['methods'] as string).split(' ') as readonly AuthenticationMethod[],
    },
    at: bigint('authenticated_at'),
    providerId: text('provider_id'),
  }),
  agent: optionalGroup('agent_browser', { browser: text('agent_browser'), system: text('agent_system') }),
  network: text('network'),
  seenAt: bigint('seen_at'),
  createdAt: bigint('created_at'),
  expiresAt: bigint('expires_at'),
})
