import type { WholeUserDocument } from '../../admin/user/tasks.ts'
import { changes, type Form, type Members } from '../engine/form.ts'
import { REVOKE_GRANT } from './grants.ts'
import { REMOVE_ROLE, SET_ROLE } from './roles.ts'
import { DELETE_USER, USER_FORMS } from './users.ts'

/** What can be done on the page of a user. */
export const ONE_USER_FORMS: readonly Form[] = [
  {
    kind: 'create',
    task: 'user.create-link',
    fields: ['client_id'],
    wording: (answers) => (userOf(answers).email === null ? undefined : 'user.create-link.instead'),
    caution: strangerIn,
  },
  {
    kind: 'create',
    task: 'user.send-link',
    fields: ['client_id'],
    wording: (answers) => (isInvited(userOf(answers)) ? 'user.send-link.invitation' : 'user.send-link.reset'),
    caution: strangerIn,
  },
  ...changes('user.unlock', 'user.end-sessions'),
  ...USER_FORMS,
  {
    kind: 'edit',
    task: 'user.set-email',
    caution: strangerIn,
    fields: ['email', 'verified'],
    filled: (answers) => addressOf(userOf(answers)),
  },
  {
    kind: 'edit',
    task: 'user.update',
    fields: ['name'],
    filled: (answers) => ({ name: userOf(answers).name }),
  },
  {
    ...SET_ROLE,
    filled: (answers) => userOf(answers).role ?? undefined,
    caution: (answers, frame) => SET_ROLE.caution?.(answers, frame) ?? strangerIn(answers),
  },
  { ...REMOVE_ROLE, fits: (user) => user['role'] !== null },
  {
    kind: 'change',
    task: 'session.end',
    rows: { member: 'session_id' },
  },
  { ...REVOKE_GRANT, rows: { member: 'grant_id' } },
  {
    kind: 'change',
    task: 'user.reset-second-factor',
    fits: (user) => user['authenticator_app'] !== null,
  },
  {
    kind: 'change',
    task: 'user.remove-passkey',
    rows: { member: 'passkey_id' },
  },
  ...changes('user.revoke-tokens'),
  DELETE_USER,
]

function userOf(answers: Members): WholeUserDocument {
  return answers['user'] as WholeUserDocument
}

/** Whether a link is the first way to sign in. */
function isInvited({ has_password: has, first_signed_in_at: first }: WholeUserDocument): boolean {
  return !has && first === null
}

function addressOf({ email, email_verified_at: provenAt }: WholeUserDocument): Members {
  return { email, verified: provenAt !== null }
}

/** Anyone can sign up with the address of another person (threats.md CON-34). For each form that gives something. */
function strangerIn(answers: Members): string | undefined {
  return userOf(answers).is_address_doubtful
    ? 'The address of this account was never verified, and the account is in use: it may be of another person than its address says. Continue only if you know the account.'
    : undefined
}
