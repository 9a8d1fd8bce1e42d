import { changeSettings } from "#web/live/settings.ts";

/** Asks the browser where it has to be asked; what stands in the way is said as a sentence. */
export async function allowNotifications(): Promise<string | undefined> {
  if (!("Notification" in window))
    return "This browser shows no notifications here; they need https or this very machine.";
  const answer = await Notification.requestPermission();
  changeSettings({ notify: answer === "granted" });
  if (answer === "granted") return undefined;
  return "This browser refuses notifications of this page; its settings for the page can allow them.";
}

export function stopNotifications(): void {
  changeSettings({ notify: false });
}
