import { minimumPasswordLength, type PasswordFault } from '../../../../platform/crypto/passwords.ts'
import type { Catalogue } from '../../../../platform/i18n/language.ts'

const en = {
  signIn: 'Sign in',
  toApplication: (name: string) => `to continue to ${name}`,
  email: 'E-mail address',
  next: 'Next',
  password: 'Password',
  change: 'Change',
  forgot: 'Forgotten password?',
  singleSignOn: 'Use single sign-on',
  wrong: 'The e-mail address or the password is wrong.',
  tooMany: (seconds: number) =>
    `Too many failed attempts. Try again in ${duration(seconds, 'second', 'minute')}.`,
  busy: 'Too many sign-ins in progress. Try again shortly.',
  notAnEmail: 'This is not an e-mail address.',
  code: 'One-time code',
  codeLead: 'Enter the six digits that your authenticator application shows.',
  codeHint: 'Without your device, enter one of your recovery codes.',
  wrongCode: 'This code is wrong, or was used already.',
  verify: 'Verify',
  expired: 'This sign-in took too long. Please start again.',
  startAgain: 'Start again',
  consentTitle: (name: string) => `Authorise ${name}?`,
  consentLead: 'This application asks to act in your name:',
  consentPoints: ['read and change what your role allows', 'stay signed in until you end its session'],
  allow: 'Allow',
  deny: 'Deny',
  signedInAs: 'Signed in as',
  refusedTitle: 'This sign-in cannot continue',
  refusedLead: 'The application that sent you here made a mistake. Send its administrator the message below.',
  foreignForm: 'This form did not come from this page, or your browser keeps no cookies. Please start again.',
  forgotTitle: 'Forgotten password',
  forgotLead: 'Enter your e-mail address. We send you a link with which you choose a new password.',
  sendLink: 'Send the link',
  mailSentTitle: 'Check your e-mail',
  mailSentLead:
    'If there is an account for this address that uses a password, a link is on its way. It works for 30 minutes and once.',
  setTitle: 'Choose a new password',
  welcomeTitle: 'Welcome: choose a password',
  newPassword: 'New password',
  repeatPassword: 'Confirm the password',
  passwordHint: `At least ${minimumPasswordLength} characters; a few words are a good choice.`,
  different: 'The two passwords are different.',
  samePassword: 'This is your current password. Choose another.',
  passwordFaults: {
    tooLong: 'The password is too long.',
    tooShort: `The password must have at least ${minimumPasswordLength} characters.`,
    malformed: 'The password contains invalid characters.',
    common: 'This is one of the most common passwords. Choose another.',
  } satisfies Record<PasswordFault, string>,
  savePassword: 'Save the password',
  passwordSetTitle: 'Your password is set',
  passwordSetLead: 'All your other sessions have ended. You can sign in with the new password now.',
  linkEndedTitle: 'This link is no longer valid',
  linkEndedLead: 'It was used already, is too old, or a newer one was sent.',
  askAgain: 'Ask for a new link',
  backToSignIn: 'Back to sign-in',
}

/** The texts of the sign-in pages. */
export type SignInWords = typeof en

const fr: SignInWords = {
  signIn: 'Se connecter',
  toApplication: (name) => `pour continuer vers ${name}`,
  email: 'Adresse e-mail',
  next: 'Suivant',
  password: 'Mot de passe',
  change: 'Modifier',
  forgot: 'Mot de passe oublié ?',
  singleSignOn: 'Utiliser la connexion unique',
  wrong: 'L’adresse e-mail ou le mot de passe est incorrect.',
  tooMany: (seconds) =>
    `Trop de tentatives échouées. Réessayez dans ${duration(seconds, 'seconde', 'minute')}.`,
  busy: 'Trop de connexions sont en cours. Réessayez dans un instant.',
  notAnEmail: 'Ce n’est pas une adresse e-mail.',
  code: 'Code à usage unique',
  codeLead: 'Saisissez les six chiffres affichés par votre application d’authentification.',
  codeHint: 'Sans votre appareil, saisissez l’un de vos codes de secours.',
  wrongCode: 'Ce code est incorrect, ou a déjà servi.',
  verify: 'Vérifier',
  expired: 'Cette connexion a pris trop de temps. Veuillez recommencer.',
  startAgain: 'Recommencer',
  consentTitle: (name) => `Autoriser ${name} ?`,
  consentLead: 'Cette application demande à agir en votre nom :',
  consentPoints: [
    'lire et modifier ce que votre rôle permet',
    'rester connectée jusqu’à ce que vous mettiez fin à sa session',
  ],
  allow: 'Autoriser',
  deny: 'Refuser',
  signedInAs: 'Connecté en tant que',
  refusedTitle: 'Cette connexion ne peut pas continuer',
  refusedLead:
    'L’application qui vous a envoyé ici a fait une erreur. Transmettez à son responsable le message ci-dessous.',
  foreignForm:
    'Ce formulaire ne vient pas de cette page, ou votre navigateur ne conserve pas les cookies. Veuillez recommencer.',
  forgotTitle: 'Mot de passe oublié',
  forgotLead:
    'Saisissez votre adresse e-mail. Nous vous envoyons un lien pour choisir un nouveau mot de passe.',
  sendLink: 'Envoyer le lien',
  mailSentTitle: 'Consultez vos e-mails',
  mailSentLead:
    'S’il existe un compte avec mot de passe pour cette adresse, un lien est en route. Il est valable 30 minutes et une seule fois.',
  setTitle: 'Choisissez un nouveau mot de passe',
  welcomeTitle: 'Bienvenue : choisissez un mot de passe',
  newPassword: 'Nouveau mot de passe',
  repeatPassword: 'Confirmez le mot de passe',
  passwordHint: `Au moins ${minimumPasswordLength} caractères ; quelques mots sont un bon choix.`,
  different: 'Les deux mots de passe sont différents.',
  samePassword: 'C’est votre mot de passe actuel. Choisissez-en un autre.',
  passwordFaults: {
    tooLong: 'Le mot de passe est trop long.',
    tooShort: `Le mot de passe doit compter au moins ${minimumPasswordLength} caractères.`,
    malformed: 'Le mot de passe contient des caractères invalides.',
    common: 'Ce mot de passe est l’un des plus courants. Choisissez-en un autre.',
  },
  savePassword: 'Enregistrer le mot de passe',
  passwordSetTitle: 'Votre mot de passe est enregistré',
  passwordSetLead:
    'Toutes vos autres sessions sont terminées. Vous pouvez vous connecter avec le nouveau mot de passe.',
  linkEndedTitle: 'Ce lien n’est plus valable',
  linkEndedLead: 'Il a déjà servi, est trop ancien, ou un lien plus récent a été envoyé.',
  askAgain: 'Demander un nouveau lien',
  backToSignIn: 'Retour à la connexion',
}

/** Both languages form these plurals with an s. */
function duration(seconds: number, second: string, minute: string): string {
  const [count, unit] = seconds < 90 ? [seconds, second] : [Math.ceil(seconds / 60), minute]
  return `${count} ${unit}${count > 1 ? 's' : ''}`
}

export const signInWords: Catalogue<SignInWords> = { en, fr }
