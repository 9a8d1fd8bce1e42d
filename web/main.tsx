import { createRoot } from "react-dom/client";
import { applyTheme } from "#web/live/settings.ts";
import { Entry } from "#web/shell/entry.tsx";
import "./ui/tokens.css";
import "./ui/base.css";

applyTheme();
const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Entry />);
