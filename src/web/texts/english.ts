import { mailEnglish } from './mail-english.ts'
import { accountEnglish } from './account-english.ts'
import { deviceEnglish } from './device-english.ts'
import { html } from '../markup.ts'
import type { Texts } from './texts.ts'

export const english: Texts = {
  title: (heading, brand) => `${heading} · ${brand}`,
  titleWithError: (title) => `Error: ${title}`,
  momentsAgo: 'less than a minute ago',
  namelessApp: 'An app without a name',
  namelessAppInside: 'an app without a name',
  thisComputer: 'this computer',
  footer: 'Contact and legal',
  contact: 'Contact',
  terms: 'Terms',
  privacy: 'Privacy',

  unverified: 'Unverified',
  registered: (ago) => `registered ${ago}`,
  firstSeen: (ago) => `first used here ${ago}`,
  verifiedBy: (brand) => html`Verified by ${brand}`,
  from: (host) => html`From ${host}`,
  appLinks: (scheme) => html`the app that opens ${scheme} links`,

  continueTo: (client) => html`to continue to ${client}`,
  continueToHost: (client, host) => html`to continue to ${client} (${host})`,
  continueToComputer: (client) => html`to continue to ${client} on this computer`,
  continueToAccount: 'to manage your account',
  continueConfirmed: 'once more, to confirm that it is you',
  signInAgain: 'You are signed in. The app asks you to confirm that it is you.',
  email: 'Email',
  password: 'Password',
  signIn: 'Sign in',
  show: 'Show',
  showPassword: 'Show password',
  forgot: 'Forgot your password?',
  forgotHint: (brand) =>
    html`Ask the operator of ${brand} for a link. With it you choose a new password, or another way to sign in.`,
  lostPasskey: 'Lost your passkey?',
  forgotHeading: 'Sign in again',
  forgotLead:
    'Enter the email of your account. We send you a link, with which you choose a new password or another way to sign in.',
  forgotSend: 'Send the link',
  forgotDoneHeading: 'Look into your mailbox',
  forgotDone: 'If there is an account with this address, a mail is on its way. Its link is valid for an hour.',
  forgotAtProvider: (provider) =>
    html`Accounts with such an address sign in with ${provider}, and have no password here. Go back, and enter the
    address there.`,
  forgotNothing: 'Nothing there? Look into your spam folder, too, and check the address. Otherwise ask the operator.',
  backToSignIn: 'Back to sign-in',
  wrongCredentials: 'That email and password do not match. Check both and try again.',
  emailMissing: 'Enter your email.',
  addressUnknown: 'There is no sign-in for this address. Check how it is spelled, or choose another way.',
  passwordMissing: 'Enter your password.',
  passwordTooLong: 'This password is longer than any we accept. Check that you pasted the right text.',
  accountRefused: 'This account cannot sign in here.',
  applicationRefused: 'You are not signed in. You can try again.',
  notAnswered: 'You are not signed in yet, because there was no answer. Try again in a moment.',
  secondStep: 'Confirm with a second step',
  noSecondStep:
    'Your account needs a second step, and yours does not work here right now. Try again later, or ask the operator.',
  stepUp: (client) => html`${client} asks for more: confirm with your second step.`,
  stepUpFor: 'It is needed for',
  continueWithout: 'Continue without',
  otherAccount: 'Sign in with another account',
  scopeNeedsStep: {
    withheld: 'Needs a second step when you sign in, for which your account has nothing set up.',
    declined: 'Needs a second step, which you left out.',
  },
  passkeyStep: 'Use a passkey',
  secondStepExpired: 'You are not signed in, because the second step took too long or was done before. Sign in again.',
  code: 'Code',
  codeHint: 'Six digits from your authenticator app',
  codeWrong: 'This code is not right. Wait for the next one and try again.',
  codeUsed: 'This code was used already. Wait for the next one.',
  codesLocked: 'Too many wrong codes. Use a passkey or a recovery code, or ask the operator.',
  cannotUseApp: 'I cannot use my app',
  recoveryCode: 'Recovery code',
  recoveryCodeWrong: 'This recovery code is not right, or was used before.',
  setUpSecondStep: 'Set up two-step sign-in',
  secondStepNeeded:
    'Your account needs a second step. Set it up once: with a passkey, if this page offers one, or with an authenticator app on your phone or computer.',
  scanCode: 'Scan this code with your authenticator app, and then type the six digits that the app shows.',
  qrCode: 'QR code for your authenticator app',
  typeKey: 'If you cannot scan it, type this key into the app:',
  recoveryCodes: 'Recovery codes',
  recoverySave:
    'Print these codes or keep them in a safe place. Each works once, if you lose your app. You see them only now.',
  recoveryDownload: 'Save as a file',
  passkeySignIn: 'Sign in with a passkey',
  passkeyFailed: 'The passkey did not work. Try again, or sign in another way.',
  passkeyUnknown: 'This passkey belongs to no account here. It may have been removed.',
  noPasskey: {
    get: 'No passkey was used. Try again, or sign in another way.',
    create:
      'No passkey was added. Try again. A device that has one for this account makes no other, and a security key needs a PIN.',
  },
  passkeyLost: 'If you no longer have your passkey, ask the operator for a link.',
  methodOff: 'You can no longer sign in that way here. Nothing was done.',
  noSignInMethod: 'There is no way to sign in here right now. Tell the operator.',
  or: 'or',
  continue: 'Continue',
  continueWith: (provider) => html`Continue with ${provider}`,
  providerAway: 'It does not answer right now. You can try it all the same.',
  providerOff: (provider) =>
    html`Sign-in with ${provider} is switched off here at the moment. Ask the operator of this site.`,
  providerDown: (provider, isRequired) =>
    html`${provider} does not answer right now. Try again in a minute${isRequired ? '.' : ', or sign in another way.'}`,
  providerNotFresh: (provider) =>
    html`You have to sign in again at ${provider}, which did not ask you to. Sign out of ${provider}, and then try again
    here.`,
  providerFailed: (provider, isRequired) =>
    html`${provider} did not confirm who you are. Try again${isRequired ? '.' : ', or sign in another way.'}`,
  noAccount: (provider) =>
    html`You have no account here with ${provider}. Ask the operator of this site to invite you.`,
  noAccountOf: (email, provider) =>
    html`No account here belongs to ${email} at ${provider}. Ask the operator of this site to invite you.`,
  identityTaken: (provider) => html`Your account at ${provider} was connected a moment ago. Sign in once more.`,
  signInToConnect: (provider, isRequired) =>
    html`You already have an account here. Sign in to it once to connect ${provider}. From then on you
    ${isRequired ? html`sign in with ${provider} only` : 'can sign in with either'}.`,
  connectByPasskey: 'If the account has a passkey, sign in with the passkey: a password does not connect it then.',
  leaveTitle: 'Continue to sign in',
  leaveHeading: (provider) => html`Continue to ${provider}`,
  leaveHint: (provider) => html`You sign in at ${provider}, and then come back here.`,
  throttled: (when) => `Too many attempts. Try again ${when}.`,
  busy: (when) => `Many people are signing in right now. Try again ${when}.`,

  consentTitle: 'Allow access',
  consentHeading: (client) => html`${client} wants to use your account`,
  onlyIfStarted: 'Anyone can register an app under any name. Allow it only if you have just started this yourself.',
  ableTo: 'It will be able to',
  noScope: 'It asks for no permissions. It learns which account you have here, and can do nothing else.',
  noLimit: (api) => html`What it can do with your account at ${api} is not limited by permissions.`,
  usedWith: 'Gives access to',
  describedBy: 'Described by',
  sendsYouTo: 'It sends you to',
  anyProgram: (site) => html`Any program on this computer can say that it is this app of ${site}.`,
  loopbackWarning:
    'If your browser then shows an address that does not open, never paste it anywhere or give it to anyone.',
  signedInAs: 'Signed in as',
  withoutEmail: 'without an email address',
  switchAccount: 'Switch',
  organization: 'Organization',
  organizationHint: 'What you allow counts for this organization only.',
  chooseOrganization: 'Choose an organization',
  withoutOrganization: 'Without an organization',
  organizationMissing: 'Choose for which organization you allow it.',
  organizationGone: 'You do not belong to that organization, or no longer do. Nothing was allowed.',
  deny: 'Deny',
  allow: 'Allow',
  leaveOut: 'Uncheck what you do not want to allow.',
  scopeMissing: 'Too little is checked for the app to work. Check more, or deny the request.',
  takeBack: (connectedApps) => html`You can take this back any time under ${connectedApps}.`,

  identityScopes: {
    openid: 'Know that it is you',
    profile: 'See your name and other details of your profile',
    email: 'See your email address',
    phone: 'See your phone number',
    address: 'See your postal address',
    offline_access: 'Stay connected while you are away',
  },

  formPostTitle: 'Back to the app',
  formPostHint: 'Your browser continues to the app by itself. If it does not, press the button.',

  returnTitle: 'This request did not work',
  returnHeading: (client) => html`${client} sent a request that did not work`,
  returnProblems: {
    invalid_request: 'The request is incomplete or contradicts itself. This is a mistake in the app, not yours.',
    invalid_scope: 'It asked for a permission that does not exist or that it may not have.',
    invalid_target: 'It asked to use an API that does not exist here or that it may not use.',
    access_denied: 'It asked for an organization that your account does not belong to.',
    unsupported_response_type: 'It asked for a kind of answer that is not available here.',
    request_not_supported: 'It sent its request in a form that is not available here.',
    request_uri_not_supported: 'It referred to a request kept elsewhere, which is not available here.',
    unauthorized_client: 'It is not allowed to ask for access in this way.',
    interaction_required: 'You have to do something before you can continue there.',
    temporarily_unavailable: 'Signing in is not possible at the moment. Try again later.',
    login_required: 'It needs you to sign in, or another person than the one who is signed in.',
    consent_required: 'It wanted to continue without showing you a page, but you have not allowed that yet.',
    registration_not_supported: 'It tried to introduce itself in a way that is not available here.',
    unmet_authentication_requirements: 'It requires a way to sign in that is not available here.',
  },
  returnOffer: 'Nothing was shared. You can close this page, or go back and try again.',
  leadsTo: 'The link leads to',
  returnTo: (host) => html`Go back to ${host}`,
  returnToComputer: 'Go back to the app on this computer',
  returnToApp: 'Go back to the app',
  forDevelopers: 'For developers',

  reference: 'If you ask for help, give this reference:',

  errors: {
    'client-unknown': {
      heading: 'This app is not known here',
      happened: 'The app that sent you here is not registered, or was removed.',
      todo: 'Go back to the app, remove the connection there, and add it again.',
    },
    'client-unidentified': {
      heading: 'This app cannot be identified',
      happened: 'The app is described by a document on its website. The document could not be read, or has a mistake.',
      todo: 'Try again in a few minutes. If this page returns, tell the people who make the app. Nothing was shared.',
    },
    'client-not-allowed': {
      heading: 'This app is not allowed here',
      happened: 'The operator of this site does not allow this app, or the address that it would send you to.',
      todo: 'If you need the app, ask the operator. Nothing was shared.',
    },
    'redirect-missing': {
      heading: 'The return address is missing',
      happened: 'The app did not say to which of its addresses you should return.',
      todo: 'Go back to the app and connect again. If this page returns, tell the people who make the app.',
    },
    'redirect-unknown': {
      heading: 'This return address is not known',
      happened:
        'The app wants you sent to an address that it has not registered. To keep your account safe, we stop here.',
      todo: 'Go back to the app and connect again. If this page returns, tell the people who make the app.',
    },
    'redirect-not-allowed': {
      heading: 'This return address is not allowed',
      happened:
        'The app wants you sent to an address that this site does not allow. To keep your account safe, we stop here.',
      todo: 'If you need the app, show this page to the operator: the setting GRANTOR_REDIRECT_SCHEMES allows the addresses of apps.',
    },
    'request-malformed': {
      heading: 'This link cannot be read',
      happened: 'Something in the request is missing or damaged.',
      todo: 'Go back to the app and start again. If you typed or pasted the link, check that it is complete.',
    },
    expired: {
      heading: 'This page has expired',
      happened: 'Too much time has passed since you started, so the request is no longer valid.',
      todo: 'Go back to the app and start again.',
    },
    'link-invalid': {
      heading: 'This link no longer works',
      happened: 'It was used, replaced by a newer one, or is too old. Or it is incomplete.',
      todo: 'Check that you copied the whole link. Otherwise open your account and choose “Forgot your password?”, or ask the operator for a new one.',
    },
    'provider-failed': {
      heading: 'The provider did not confirm who you are',
      happened: 'You cancelled it there, or the provider does not answer right now. Nothing was changed.',
      todo: 'Go back and try again in a minute.',
    },
    'identity-taken': {
      heading: 'That account is connected already',
      happened: 'The account that you signed in to at the provider belongs to an account here. Nothing was changed.',
      todo: 'Sign in with it, or use another account at the provider.',
    },
    'other-browser': {
      heading: 'This was started in another browser',
      happened: 'The request belongs to another browser or a private window, or cookies are blocked.',
      todo: 'Continue in the browser where you started, or go back to the app and start again. Do not continue if someone sent you the link.',
    },
    'already-completed': {
      heading: 'This is already done',
      happened: 'You have already answered this request, perhaps in another tab.',
      todo: 'Go back to the app. If it is still waiting, start again there.',
    },
    'user-changed': {
      heading: 'You are signed in as another person now',
      happened: 'The account in this browser changed while this page was open. Nothing was allowed.',
      todo: 'Go back to the app, start again, and check the account before you allow it.',
    },
    forged: {
      heading: 'This form did not come from our page',
      happened: 'We could not confirm that you sent it yourself, so nothing was done.',
      todo: 'Go back to the app and start again. Cookies must be allowed for this site.',
    },
    'too-many-requests': {
      heading: 'Too many requests',
      happened: 'We received more requests than usual from your network in a short time.',
      todo: 'Wait a minute, then reload this page.',
    },
    'not-found': {
      heading: 'There is no page here',
      happened: 'The address may be mistyped or out of date.',
      todo: 'Check the address, or go back to the app and start again.',
    },
    home: {
      heading: 'There is nothing to do here',
      happened: 'Apps send you to this site when they want to use your account. You do not need to open it yourself.',
      todo: 'Go to the app that you want to use, and start there. At your account you see which apps can use it.',
    },
    unavailable: {
      heading: 'We are not available right now',
      happened: 'The service is overloaded or being maintained. Nothing was done.',
      todo: 'Wait a minute, then reload this page.',
    },
    'sign-in-failed': {
      heading: 'Signing in is not possible right now',
      happened: 'We could not find out who you are. The error was recorded, and nothing was allowed.',
      todo: 'Wait a minute, then reload this page. If this page returns, tell the operator.',
    },
    'server-error': {
      heading: 'Something went wrong on our side',
      happened: 'The request could not be completed. The error was recorded.',
      todo: 'Go back to the app and start again. If this page returns, tell the operator.',
    },
  },

  account: accountEnglish,
  device: deviceEnglish,
  mail: mailEnglish,

  signOutHeading: (brand) => html`Sign out of ${brand}?`,
  signOutAs: (email) => html`You are signed in as ${email}.`,
  signOutConsequence:
    'This signs you out in this browser, also of apps that support it. To stay signed in, close this page.',
  signOut: 'Sign out',
  signedOutHeading: 'You are signed out',
  signedOut: 'You can close this page.',
}
