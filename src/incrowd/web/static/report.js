// The report page is the risk page in another form: what can be taken away.
import "./risk.js";
