import type { MailTexts } from './mail-texts.ts'

export const mailEnglish: MailTexts = {
  invitationSubject: (brand) => `Your account at ${brand}`,
  invitation: (brand, address) =>
    `${brand} has made an account for you, with the address ${address}. Choose how you want to sign in.`,
  invitationButton: 'Set up your account',
  resetSubject: (brand) => `Sign in to ${brand} again`,
  reset: (brand, address) =>
    `With this link you choose how you sign in to your account ${address} at ${brand} from now on.`,
  resetConsequence: 'All browsers are then signed out, and apps that you allowed have to ask you again.',
  resetButton: 'Restore your access',
  codeSubject: (brand) => `Your code for ${brand}`,
  code: (brand, address) => `To confirm the address ${address} for your account at ${brand}, enter this code:`,
  codeValid: (span) => `The code is valid for ${span}. Enter it only on the page on which you asked for it.`,
  linkValid: (span) => `The link is valid for ${span}, and works once.`,
  unexpectedInvitation: 'If you do not expect this mail, you need not do anything.',
  unexpectedReset: 'If you did not ask for it, you need not do anything: your account stays as it is.',
  unexpectedCode: 'If you did not ask for it, you need not do anything. Do not tell the code to anyone.',
  notices: {
    'password-changed': 'A new password was set for your account',
    'password-removed': 'Your password was removed',
    'passkey-added': 'A passkey was added to your account',
    'passkey-removed': 'A passkey was removed from your account',
    'provider-added': 'Another way to sign in was connected to your account',
    'provider-removed': 'A way to sign in was removed from your account',
    'two-step-on': 'Two-step sign-in was set up',
    'two-step-off': 'Two-step sign-in was switched off',
    'two-step-reset': 'Your two-step sign-in was reset by the operator',
    'recovery-codes-replaced': 'New recovery codes were made',
    'recovery-code-used': 'A recovery code was used to sign in',
    'email-changed': 'The email address of your account was changed',
    'counter-back': 'One of your passkeys may have a copy',
    'codes-wrong': 'Five wrong codes were entered for your account',
    'app-ended': 'The access of an app was ended: copies of it were used in two places',
  },
  account: 'Account',
  when: 'When',
  browser: 'Browser',
  wasYou: {
    usual: 'If it was you, or the operator did it for you, you need not do anything.',
    'codes-wrong': 'If it was you, you need not do anything.',
    'recovery-code-used': 'If it was you, you need not do anything.',
    'app-ended': 'If you use the app on several devices or with a VPN: sign in again in the app.',
  },
  wasNotYou: {
    usual:
      'If it was not you: sign in, remove the sign-in methods that you do not know, set a new password and sign out the other browsers. If you can no longer sign in, ask the operator.',
    'email-changed': 'If it was not you: ask the operator at once. Another person may be using your account.',
    'two-step-reset':
      'Sign in and set it up again. If you did not ask for it: tell the operator at once. Another person may have asked in your name.',
    'counter-back':
      'A sign-in used a passkey whose counter was too low. That happens if a passkey was copied or restored. If you do not know why: remove the passkey and add a new one. For an hour you get no second mail about it.',
    'app-ended':
      'If not: another person may have copied a file of the app, and could use your account until now. Look at your apps, and remove those that you do not know. For an hour you get no second mail about it, also if more apps end.',
    'codes-wrong':
      'The first step of the sign-in was right. If it was not you, another person may know your password: set a new one.',
  },
  securityButton: 'Check your sign-in methods',
  testSubject: (brand) => `${brand} can send mail`,
  test: (brand) => `This is a test. The mail settings of ${brand} work.`,
  automatic: (brand) => `${brand} sent this mail automatically. Replies are not read.`,
}
