import type { WholeUserDocument } from '../../admin/user/tasks.ts'
import type { Form, Members } from '../engine/form.ts'
import { REVOKE_GRANT } from './grants.ts'
import { REMOVE_ROLE, SET_ROLE } from './roles.ts'
import { DELETE_USER, USER_FORMS } from './users.ts'

/** What can be done on the page of a user. */
export const ONE_USER_FORMS: readonly Form[] = [
  {
    kind: 'change',
    task: 'user.create-link',
    says: {
      label: 'Create a link',
      done: 'Link created',
      warning:
        'With the link the user sets a password, or adds a passkey or a provider; where the address requires a provider, that one alone. It replaces the second factor of the account. For a user who signed in before, its use ends all sessions and grants.',
      isRecent: true,
      secret: { member: 'link' },
    },
    caution: strangerIn,
  },
  {
    kind: 'change',
    task: 'user.send-link',
    says: {
      label: 'Send a mail with a link',
      done: 'Mail sent',
      warning:
        'With the link in the mail the user sets a password, or adds a passkey or a provider; where the address requires a provider, that one alone. It replaces no second factor. No administrator sees the link. For a user who signed in before, its use ends all sessions and grants.',
    },
    caution: strangerIn,
  },
  {
    kind: 'change',
    task: 'user.unlock',
    says: {
      label: 'Unlock',
      done: 'Unlocked',
      warning: 'Wrong passwords and codes are counted from zero, also those of a stranger who guesses.',
    },
  },
  {
    kind: 'change',
    task: 'user.end-sessions',
    says: {
      label: 'End all sessions',
      done: 'Sessions ended',
      warning: 'The user signs in again in each browser and in the apps that signed the user in there.',
    },
  },
  ...USER_FORMS,
  {
    kind: 'edit',
    task: 'user.set-email',
    says: {
      label: 'Change the address',
      done: 'Address changed',
      warning:
        'The user signs in with the new address from now on, and the reader of its mail can set a new password, unless the address requires a provider. Sessions and grants stay.',
      isRecent: true,
      undo: 'user.set-email',
    },
    caution: strangerIn,
    fields: ['email', 'verified'],
    filled: (answers) => addressOf(userOf(answers)),
  },
  {
    kind: 'edit',
    task: 'user.update',
    says: { label: 'Change the name', done: 'Name changed', undo: 'user.update' },
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
    says: {
      label: 'End',
      done: 'Session ended',
      warning: 'The browser is signed out, and so are the apps that signed the user in there.',
    },
    rows: { member: 'session_id' },
  },
  { ...REVOKE_GRANT, rows: { member: 'grant_id' } },
  {
    kind: 'change',
    task: 'user.reset-second-factor',
    says: {
      label: 'Reset the authenticator app',
      done: 'Authenticator app removed',
      warning:
        'The app and the recovery codes are removed, and all sessions end. Be sure that the person who asks is the user.',
      isRecent: true,
      isFinal: true,
    },
    fits: (user) => user['authenticator_app'] !== null,
  },
  {
    kind: 'change',
    task: 'user.remove-passkey',
    says: {
      label: 'Remove',
      done: 'Passkey removed',
      warning: 'The passkey no longer signs in, and all sessions end. Be sure that the person who asks is the user.',
      isRecent: true,
      isFinal: true,
    },
    rows: { member: 'passkey_id' },
  },
  {
    kind: 'change',
    task: 'user.revoke-tokens',
    says: {
      label: 'Revoke all tokens',
      done: 'All tokens revoked',
      warning: 'All sessions end, and each app that the user allowed has to ask again.',
      isRecent: true,
      isFinal: true,
    },
  },
  DELETE_USER,
]

function userOf(answers: Members): WholeUserDocument {
  return answers['user'] as WholeUserDocument
}

function addressOf({ email, email_verified_at: provenAt }: WholeUserDocument): Members {
  return { email, verified: provenAt !== null }
}

/** Anyone can sign up with the address of another person (threats.md CON-34). For each form that gives something. */
function strangerIn(answers: Members): string | undefined {
  return userOf(answers).is_address_doubtful
    ? 'The address of this account was never verified, and the account is in use: it may be of another person than its address says. Go on only if you know the account.'
    : undefined
}
