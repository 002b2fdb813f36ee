import type { Endpoint } from '../endpoint.ts'
import { PATHS } from '../paths.ts'
import { continueSignIn } from './continue.ts'
import { leaveForApplication } from './leave.ts'
import { showSignIn } from './page.ts'
import { signInByPassword } from './password.ts'
import { mailReset, showForgot } from './forgot.ts'
import { ADDS_FACTOR } from './target.ts'
import { signInByPasskey } from './passkey/sign-in.ts'
import { signInAtProvider } from './provider/begin.ts'
import { finishAtProvider } from './provider/callback.ts'
import { signInByCode, signInByRecoveryCode } from './second-step/code.ts'
import { confirmByPasskey, setUpPasskey } from './second-step/passkey.ts'
import { continueWithApp, setUpApp } from './second-step/set-up.ts'
import { declineStepUp, showSetUp, showStepUp } from './second-step/step-up.ts'

const FORM = 'application/x-www-form-urlencoded'

const READS_METADATA_ONCE = 'It writes nothing, and the metadata of a provider are fetched once for all requests.'

const NEEDS_FIRST_STEP = 'It does something only after a right password, or for an account at a provider.'
const SECOND_STEP = { method: 'POST', accepts: FORM, audience: 'page' } as const

/** The sign-in page, and the endpoints of the sign-in methods. */
export const SIGN_IN_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'sign-in',
    method: 'GET',
    path: PATHS.signIn,
    audience: 'page',
    reopenedBy: ['authorization', 'page', ADDS_FACTOR],
    opener: 'cut-for-account',
    unlimited: READS_METADATA_ONCE,
    run: showSignIn,
  },
  {
    name: 'step-up',
    method: 'GET',
    path: PATHS.stepUp,
    audience: 'page',
    reopenedBy: ['authorization'],
    unlimited: 'It does something only for a user who is signed in.',
    run: showStepUp,
  },
  {
    name: 'set-up-factor',
    method: 'GET',
    path: PATHS.setUpFactor,
    audience: 'page',
    reopenedBy: ['authorization'],
    unlimited: 'It does something only for a user who is signed in.',
    run: showSetUp,
  },
  {
    ...SECOND_STEP,
    name: 'step-up',
    path: PATHS.stepUp,
    unlimited: 'It does something only for a user who is signed in.',
    run: declineStepUp,
  },
  {
    name: 'leave',
    method: 'GET',
    path: PATHS.leave,
    audience: 'page',
    budgets: ['authorization'],
    run: leaveForApplication,
  },
  {
    name: 'continue',
    method: 'GET',
    path: PATHS.continueSignIn,
    audience: 'page',
    unlimited: "It does something only once for an answer of the operator's application.",
    run: continueSignIn,
  },
  {
    name: 'sign-in',
    method: 'POST',
    path: PATHS.signIn,
    accepts: FORM,
    audience: 'page',
    budgets: ['sign-in'],
    run: signInByPassword,
  },
  { ...SECOND_STEP, name: 'sign-in-code', path: PATHS.signInCode, budgets: ['sign-in'], run: signInByCode },
  {
    ...SECOND_STEP,
    name: 'sign-in-recovery-code',
    path: PATHS.signInRecoveryCode,
    budgets: ['sign-in'],
    run: signInByRecoveryCode,
  },
  {
    ...SECOND_STEP,
    name: 'sign-in-second-passkey',
    path: PATHS.signInPasskeyStep,
    budgets: ['sign-in'],
    run: confirmByPasskey,
  },
  {
    ...SECOND_STEP,
    name: 'sign-in-new-passkey',
    path: PATHS.signInNewPasskey,
    unlimited: NEEDS_FIRST_STEP,
    run: setUpPasskey,
  },
  { ...SECOND_STEP, name: 'sign-in-app', path: PATHS.signInApp, unlimited: NEEDS_FIRST_STEP, run: setUpApp },
  {
    ...SECOND_STEP,
    name: 'sign-in-app-enabled',
    path: PATHS.signInAppEnabled,
    unlimited: NEEDS_FIRST_STEP,
    run: continueWithApp,
  },
  {
    name: 'sign-in-by-passkey',
    method: 'POST',
    path: PATHS.signInByPasskey,
    accepts: FORM,
    audience: 'page',
    budgets: ['sign-in'],
    run: signInByPasskey,
  },
  {
    name: 'forgot',
    method: 'GET',
    path: PATHS.forgot,
    audience: 'page',
    opener: 'cut-for-account',
    unlimited: 'It writes nothing.',
    run: showForgot,
  },
  {
    name: 'forgot',
    method: 'POST',
    path: PATHS.forgot,
    accepts: FORM,
    audience: 'page',
    budgets: ['sign-in'],
    run: mailReset,
  },
  {
    name: 'sign-in-at-provider',
    method: 'POST',
    path: PATHS.signInAtProvider,
    accepts: FORM,
    audience: 'page',
    unlimited: READS_METADATA_ONCE,
    run: signInAtProvider,
  },
  {
    name: 'provider-callback',
    method: 'GET',
    path: PATHS.providerCallback,
    audience: 'page',
    budgets: ['sign-in'],
    run: finishAtProvider,
  },
]
