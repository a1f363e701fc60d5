import { session } from '../session/session.ts'
import { languageOfBrowser, texts } from '../texts/texts.ts'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import styles from './signed-out.module.css'

const words = texts(
  {
    title: 'You are signed out',
    failed: 'The sign-in did not work',
    unreachable: 'The service does not answer',
    unreachableHint: 'It is asked again every few seconds.',
    signIn: 'Sign in',
  },
  {
    title: 'Vous êtes déconnecté',
    failed: 'La connexion a échoué',
    unreachable: 'Le service ne répond pas',
    unreachableHint: 'Une nouvelle tentative est faite toutes les quelques secondes.',
    signIn: 'Se connecter',
  },
)

/** The only screen without a session. */
export function SignedOut({
  failure,
  isUnreachable,
}: {
  readonly failure?: string
  readonly isUnreachable?: boolean
}) {
  const t = words[languageOfBrowser()]
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <Icon name={isUnreachable ? 'warning' : 'account'} size={28} />
        <h1>{isUnreachable ? t.unreachable : failure === undefined ? t.title : t.failed}</h1>
        {failure && <p data-quiet>{failure}</p>}
        {isUnreachable ? (
          <p data-quiet>{t.unreachableHint}</p>
        ) : (
          <Button kind="main" onPress={() => void session.signIn()}>
            {t.signIn}
          </Button>
        )}
      </div>
    </main>
  )
}
