import { createRoot } from "react-dom/client";
import { Entry } from "#web/app/entry.tsx";
import { applyTheme } from "#web/live/settings.ts";
import "./ui/tokens.css";
import "./ui/base.css";

applyTheme();
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Entry />);
